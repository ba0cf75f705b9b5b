insert into projection.parked (name, version, stream, part, seq, code, reason, since_ms)
values ($1, $2, $3, $4, $5, $6, $7, $8)
