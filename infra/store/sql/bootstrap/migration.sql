-- Which migrations this database has had. `checksum` is the SHA-256 of the file's bytes.
create schema if not exists store authorization khrap_owner;
set role khrap_owner;
create table if not exists store.migration (
  folder text collate "C" not null,
  number int not null,
  name text not null,
  checksum bytea not null,
  applied_at timestamptz not null default now(),
  primary key (folder, number)
);
grant usage on schema store to khrap_app;
grant select on store.migration to khrap_app;
