-- A version may be built again beside the one that serves: its rows may be corrupt, or its code may be new. So what was
-- a version becomes a generation of a version, with a schema of its own, and all that is kept for it goes by the schema.
--
-- `building` is filled from the log and followed by nobody else; `following` is kept up by whoever holds its lease;
-- `dropping` is let go of by everybody, and then gone. `served_at` says when it last began to serve, `retired_at` when
-- another last took over; `refused` why it may not serve.
alter table projection.version rename to generation;
alter table projection.generation
  add column generation int not null default 1,
  add column state text not null default 'following' check (state in ('building', 'following', 'dropping')),
  add column served_at timestamptz,
  add column retired_at timestamptz,
  add column refused text;
alter table projection.generation alter column generation drop default;
update projection.generation set served_at = made_at where serving;
alter index projection.one_version_serves rename to one_generation_serves;

alter table projection.checkpoint add column schema_name text collate "C";
update projection.checkpoint c set schema_name = g.schema_name
  from projection.generation g where g.name = c.name and g.version = c.version;
alter table projection.parked add column schema_name text collate "C";
update projection.parked p set schema_name = g.schema_name
  from projection.generation g where g.name = p.name and g.version = p.version;
alter table projection.checkpoint drop column name, drop column version;
alter table projection.parked drop column name, drop column version;

alter table projection.generation
  drop constraint version_pkey,
  add primary key (schema_name),
  add unique (name, version, generation);
alter table projection.checkpoint
  add primary key (schema_name, part),
  add foreign key (schema_name) references projection.generation on delete cascade;
alter table projection.parked
  add primary key (schema_name, stream),
  add foreign key (schema_name) references projection.generation on delete cascade;

set local role none;
create or replace function projection.make_schema(wanted text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if wanted !~ '^[a-z][a-z0-9_]{0,40}_v[1-9][0-9]{0,8}(_g[1-9][0-9]{0,8})?$' then
    raise exception 'not the name of a projection''s schema: %', wanted using errcode = 'invalid_schema_name';
  end if;
  execute format('create schema %I authorization khrap_app', wanted);
end
$$;
set local role khrap_owner;
