delete from projection.parked
where schema_name = $1 and stream = $2 and seq = $3
