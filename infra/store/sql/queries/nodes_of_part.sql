select level, idx, hash from store.node where part = %s
