insert into projection.checkpoint (name, version, part, pos)
select %s, %s, part, 0 from unnest(%s::smallint[]) part
