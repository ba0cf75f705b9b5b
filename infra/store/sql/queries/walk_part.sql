copy (
  select pos, seq, version, idx, command_id, hash, stream_id, type, body, meta
    from store.event
    where part = {part}
    order by pos
) to stdout (format binary)
