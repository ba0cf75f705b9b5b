select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
  from store.event
  where part = %s and pos > %s
  order by pos
  limit %s
