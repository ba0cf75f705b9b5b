select p.stream, p.part, p.seq, p.code, p.reason, p.since_ms
from projection.parked p
join projection.version v on v.name = p.name and v.version = p.version and v.serving
where p.name = %(name)s
order by p.since_ms, p.stream
