select number, at_ms, previous, parts, sealed, key, signature
  from store.checkpoint
  where number > %s
  order by number
  limit %s
