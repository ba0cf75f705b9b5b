select stream_id, seq from store.event where part = %s and pos = %s
