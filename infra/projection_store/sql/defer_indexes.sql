-- The indexes of a schema that no constraint needs, each with the statement that makes it.
select format('%%I.%%I', n.nspname, ic.relname), pg_catalog.pg_get_indexdef(i.indexrelid)
from pg_catalog.pg_index i
join pg_catalog.pg_class ic on ic.oid = i.indexrelid
join pg_catalog.pg_namespace n on n.oid = ic.relnamespace
where n.nspname = %s
    and not exists (select from pg_catalog.pg_constraint c where c.conindid = i.indexrelid)
order by ic.relname
