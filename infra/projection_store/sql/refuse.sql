update projection.generation set refused = %s where schema_name = %s
