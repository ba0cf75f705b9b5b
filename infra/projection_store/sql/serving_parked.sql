select p.stream, p.part, p.seq, p.code, p.reason, p.since_ms
from projection.parked p
join projection.generation g on g.schema_name = p.schema_name and g.serving
where g.name = %(name)s
order by p.since_ms, p.stream
