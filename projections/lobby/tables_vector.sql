select c.part, coalesce((select max(t.pos) from {schema}.lobby_table t where t.part = c.part), 0) as pos
from store.part_head c
