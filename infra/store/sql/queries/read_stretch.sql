select e.part, e.pos, e.stream_id, e.seq, e.type, e.version, uuid_send(e.command_id), e.idx, e.body, e.meta, ''::bytea
  from unnest(%s::smallint[], %s::bigint[], %s::bigint[]) as v (part, after, upto)
  join store.event e on e.part = v.part and e.pos > v.after and e.pos <= v.upto
  order by e.part, e.pos
