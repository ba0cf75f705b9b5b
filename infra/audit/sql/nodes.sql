select n.part, n.level, n.idx, n.hash
  from unnest(%s::smallint[], %s::smallint[], %s::bigint[], %s::bigint[]) as v (part, level, first, upto)
  join store.node n on n.part = v.part and n.level = v.level and n.idx >= v.first and n.idx < v.upto
