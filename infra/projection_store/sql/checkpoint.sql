select part, pos from projection.checkpoint where name = %s and version = %s
