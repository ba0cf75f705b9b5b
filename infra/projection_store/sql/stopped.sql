select part, pos, reason, since_ms from projection.stopped order by part
