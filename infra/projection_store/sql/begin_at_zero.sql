insert into projection.checkpoint (schema_name, part, pos)
select %s, part, 0 from unnest(%s::smallint[]) part
