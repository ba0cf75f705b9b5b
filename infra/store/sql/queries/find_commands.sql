select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
  from store.event
  where part = any (%s::smallint[]) and command_id = any (%s::uuid[])
  order by command_id, idx
