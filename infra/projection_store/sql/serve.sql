update projection.generation set serving = true, served_at = clock_timestamp(), refused = null
where schema_name = %s
