-- How the application makes the schema of a projection's version, which then is its own to fill and to drop. It gets no
-- right to make any other. The function is the migrating user's, since the owner of the log may have none to give.
set local role none;
create function projection.make_schema(wanted text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if wanted !~ '^[a-z][a-z0-9_]{0,40}_v[1-9][0-9]{0,8}$' then
    raise exception 'not the name of a projection''s schema: %', wanted using errcode = 'invalid_schema_name';
  end if;
  execute format('create schema %I authorization khrap_app', wanted);
end
$$;
revoke all on function projection.make_schema(text) from public;
grant execute on function projection.make_schema(text) to khrap_app;
set local role khrap_owner;
