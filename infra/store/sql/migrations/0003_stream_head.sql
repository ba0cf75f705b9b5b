-- One row a stream: its last number and the hash of that event.
create table store.stream_head (
  part smallint not null,
  stream_id text collate "C" not null,
  last_seq bigint not null,
  last_hash bytea not null,
  primary key (part, stream_id)
) with (fillfactor = 70);
