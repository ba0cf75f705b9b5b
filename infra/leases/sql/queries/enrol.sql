-- This process can do these. Who has not been heard of for long is forgotten.
with forgotten as (
  delete from lease.candidate where holder = %(holder)s and name <> all (%(names)s::text[])
    or holder <> %(holder)s and until < clock_timestamp() - interval '1 minute'
)
insert into lease.candidate (name, holder, until)
  select name, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s) from unnest(%(names)s::text[]) name
  on conflict (name, holder) do update set until = excluded.until
