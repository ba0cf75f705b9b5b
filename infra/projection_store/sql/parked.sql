select stream, part, seq, code, reason, since_ms
from projection.parked
where schema_name = %s
order by stream
