select h.part, h.last_pos as head, coalesce(c.pos, 0)::bigint as pos
from store.part_head h
left join projection.checkpoint c on c.part = h.part and c.schema_name = %(schema)s
where h.last_pos > 0
