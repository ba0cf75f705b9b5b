select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
  from store.event
  where part = %(part)s and stream_id = %(stream)s
  order by seq desc
  limit 1
