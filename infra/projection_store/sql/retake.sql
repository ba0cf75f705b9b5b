delete from projection.parked
where name = $1 and version = $2 and stream = $3 and seq = $4
