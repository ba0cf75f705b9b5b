select h.part
  from store.part_head h
  where h.last_pos <> 0
    or exists (select from store.event e where e.part = h.part)
    or exists (select from store.stream_head s where s.part = h.part)
union
select e.part from (select min(part) as part from store.event union all select max(part) from store.event) e
  where e.part is not null
order by part
