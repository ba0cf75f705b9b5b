-- Two roles. khrap_owner owns the schemas, cannot log in, and is what `store.append` runs as. khrap_app is what the
-- service runs as. It may log in, but has no password until one is given to it: with peer or trust authentication it
-- needs none, and a migrating role may SET ROLE to it.
-- Roles belong to the whole server, so two databases may be migrated at once: hence the handlers.
do $$
declare
  wanted text;
  superuser boolean := (select r.rolsuper from pg_roles r where r.rolname = current_user);
begin
  foreach wanted in array array['khrap_owner', 'khrap_app'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I %s', wanted, case wanted when 'khrap_app' then 'login' else 'nologin' end);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
    if not superuser then
      -- From version 16 on who creates a role may grant it to himself, and must, before he can act as it.
      if current_setting('server_version_num')::int >= 160000 then
        if not pg_has_role(current_user, wanted, 'SET') then
          execute format('grant %I to %I with set true, inherit true', wanted, current_user);
        end if;
      elsif not pg_has_role(current_user, wanted, 'MEMBER') then
        execute format('grant %I to %I', wanted, current_user);
      end if;
    end if;
  end loop;
  if not has_database_privilege('khrap_owner', current_database(), 'CREATE') then
    execute format('grant create on database %I to khrap_owner', current_database());
  end if;
end
$$;
