-- The streams that have events in these ranges of positions, with their last number in there: where a tail needs to know
-- only that something happened, and nothing of what.
select e.stream_id, max(e.seq)
  from unnest(%s::smallint[], %s::bigint[], %s::bigint[]) as v (part, after, upto)
  join store.event e on e.part = v.part and e.pos > v.after and e.pos <= v.upto
  group by e.stream_id
