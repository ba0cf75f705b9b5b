-- The balance of an account that everybody touches may pass 2^63, so the ledger's version 1 keeps it as numeric. What was
-- made from its former DDL is altered where it stands, and is from then on what the present DDL makes: nothing has to be
-- built anew. The tables are the application's own.
set local role khrap_app;
do $$
declare made text;
begin
  for made in
    select schema_name from projection.generation
    where name = 'ledger' and version = 1
      and ddl_digest = '014c423b8a14df9026ded8276d6e71eff3d08127e029c0801e3f912d575ae471'
  loop
    execute format('alter table if exists %I.balance alter column balance type numeric(38)', made);
    update projection.generation
    set ddl_digest = 'c86e94f4aaa8bb8b1b3b373502e2974aa40520b3c5eb766deae56edfac2a5525'
    where schema_name = made;
  end loop;
end
$$;
set local role khrap_owner;
