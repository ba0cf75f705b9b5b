-- Tables of a schema, their columns in order, each column's place in the primary key (from 1) where it has one, and whether
-- it holds JSON.
select c.relname, a.attname, array_position(i.indkey::smallint[], a.attnum) as place,
    a.atttypid in ('json'::regtype, 'jsonb'::regtype) as is_json
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary
where n.nspname = %(schema)s and c.relkind in ('r', 'p')
order by c.relname, a.attnum
