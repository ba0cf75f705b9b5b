select schema_name from projection.version where name = %(name)s and serving
