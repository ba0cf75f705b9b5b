select seq
  from store.event
  where part = %(part)s and stream_id = %(stream)s and seq <= %(at_most)s and type = any (%(types)s::text[])
  order by seq desc
  limit 1
