-- Work that one process does at a time, by name. A candidate says that he can do it, and until when he is to be counted if
-- he says no more; the holder does it. `rate` is how many events a second he last passed there. Nothing of this needs to
-- outlive a crash, but tables that are not logged would be missing on a standby that is promoted.
create schema lease;
create table lease.candidate (
  name text collate "C" not null,
  holder text collate "C" not null,
  until timestamptz not null,
  primary key (name, holder)
) with (fillfactor = 50);
create table lease.held (
  name text collate "C" primary key,
  holder text collate "C" not null,
  until timestamptz not null,
  rate int not null
) with (fillfactor = 50);
grant usage on schema lease to khrap_app;
grant select, insert, update, delete on lease.candidate, lease.held to khrap_app;
