select e.part, e.pos, e.hash
  from unnest(%s::smallint[], %s::bigint[], %s::bigint[]) as v (part, after, upto)
  join store.event e on e.part = v.part and e.pos > v.after and e.pos <= v.upto
  order by e.part, e.pos
