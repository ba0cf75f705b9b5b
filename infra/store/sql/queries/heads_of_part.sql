select stream_id, last_seq, last_hash from store.stream_head where part = %s order by stream_id
