select h.part, v.pos, h.last_pos
  from unnest(%s::smallint[], %s::bigint[]) as v (part, pos)
  join store.part_head h on h.part = v.part and h.last_pos > v.pos
