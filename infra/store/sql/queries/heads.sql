select s.stream_id, h.last_seq, h.last_hash
  from unnest(%s::smallint[], %s::text[]) as s (part, stream_id)
  join store.stream_head h on h.part = s.part and h.stream_id = s.stream_id
