-- What the engine knows of its projections. Their own schemas are made, filled and dropped by the application's role.
create schema projection;

-- A version of a projection, made from this DDL; of each name at most one version serves the readers.
create table projection.version (
  name text collate "C" not null,
  version int not null,
  schema_name text collate "C" not null,
  ddl_digest text not null,
  serving boolean not null,
  made_at timestamptz not null default now(),
  primary key (name, version)
);
create unique index one_version_serves on projection.version (name) where serving;

-- Its position in each part. Half-empty pages let every update stay in its page (HOT).
create table projection.checkpoint (
  name text collate "C" not null,
  version int not null,
  part smallint not null,
  pos bigint not null,
  primary key (name, version, part),
  foreign key (name, version) references projection.version on delete cascade
) with (fillfactor = 50);

-- Streams that wait there: `seq` is the first number that is not applied.
create table projection.parked (
  name text collate "C" not null,
  version int not null,
  stream text collate "C" not null,
  part smallint not null,
  seq bigint not null,
  code text not null,
  reason text not null,
  since_ms bigint not null,
  primary key (name, version, stream),
  foreign key (name, version) references projection.version on delete cascade
);

-- Parts that nobody reads on: after `pos` a number is missing.
create table projection.stopped (
  part smallint primary key,
  pos bigint not null,
  reason text not null,
  since_ms bigint not null
);

grant usage on schema projection to khrap_app;
grant select, insert, update, delete on all tables in schema projection to khrap_app;
