-- All who can do something and are alive, and whether they do it.
select c.name, c.holder, h.holder is not null
  from lease.candidate c
  left join lease.held h on h.name = c.name and h.holder = c.holder and h.until > clock_timestamp()
  where c.until > clock_timestamp()
