select table_id::text as table_id, halted as reason
from {schema}.lobby_table
where not closed and halted is not null
order by table_id
limit %(limit)s
