select stream, part, seq, code, reason, since_ms
from projection.parked
where name = %(name)s and version = %(version)s
order by stream
