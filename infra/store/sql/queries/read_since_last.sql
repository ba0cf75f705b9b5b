select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
  from store.event
  where part = %(part)s and stream_id = %(stream)s and seq >= coalesce(
    (
      select last.seq
        from store.event last
        where last.part = %(part)s and last.stream_id = %(stream)s and last.type = any (%(types)s::text[])
        order by last.seq desc
        limit 1
    ),
    1
  )
  order by seq
