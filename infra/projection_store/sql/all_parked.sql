select schema_name as schema, stream, part, seq, code, reason, since_ms
from projection.parked
order by since_ms, stream
