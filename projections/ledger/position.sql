select coalesce(max(c.pos), 0) as pos
from projection.checkpoint c
where c.schema_name = %(schema)s and c.part = %(part)s
