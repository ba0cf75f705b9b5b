select part, pos from projection.checkpoint where schema_name = %s
