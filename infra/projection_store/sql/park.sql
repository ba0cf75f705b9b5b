insert into projection.parked (schema_name, stream, part, seq, code, reason, since_ms)
values ($1, $2, $3, $4, $5, $6, $7)
