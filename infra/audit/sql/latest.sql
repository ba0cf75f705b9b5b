select number, at_ms, previous, parts, sealed, key, signature from store.checkpoint order by number desc limit 1
