-- What was recorded in these streams after these numbers, up to a bound each.
select e.part, e.pos, e.stream_id, e.seq, e.type, e.version, uuid_send(e.command_id), e.idx, e.body, e.meta, e.hash
  from unnest(%s::smallint[], %s::text[], %s::bigint[], %s::bigint[]) as s (part, stream_id, after, upto)
  join store.event e
    on e.part = s.part and e.stream_id = s.stream_id and e.seq > s.after and e.seq <= s.upto
  order by e.part, e.stream_id, e.seq
