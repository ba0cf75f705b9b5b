-- Streams whose name begins so and whose last event is of another type: what still goes on. A heads' table row for
-- each stream, and one look into the log for each that matches.
select head.stream_id
  from store.stream_head head
  join store.event last on last.part = head.part and last.stream_id = head.stream_id and last.seq = head.last_seq
  where starts_with(head.stream_id, %(prefix)s) and last.type <> %(ended)s
  order by head.stream_id
