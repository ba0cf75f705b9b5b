-- Those of these names that are free, or have run out, or are this process's already, are its now. In the order of their
-- names, so that two processes never wait for each other's rows in a circle.
insert into lease.held as h (name, holder, until, rate)
  select w.name, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s), w.rate
    from unnest(%(names)s::text[], %(rates)s::int[]) w (name, rate)
    order by w.name
  on conflict (name) do update set holder = excluded.holder, until = excluded.until, rate = excluded.rate
    where h.holder = excluded.holder or h.until < clock_timestamp()
  returning name
