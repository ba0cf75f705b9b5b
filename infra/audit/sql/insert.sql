insert into store.checkpoint (number, at_ms, previous, parts, sealed, key, signature)
  values (%s, %s, %s, %s, %s, %s, %s)
