update projection.generation set serving = false, retired_at = clock_timestamp()
where name = %s and serving
