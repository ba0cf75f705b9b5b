-- The log. Rows are only ever added, and only by store.append. Each key holds the part, so that the table can be
-- distributed by it; there is no sequence and no trigger.
create table store.event (
  part smallint not null,
  pos bigint not null,
  stream_id text collate "C" not null,
  seq bigint not null,
  command_id uuid not null,
  idx smallint not null,
  type text collate "C" not null,
  version smallint not null,
  body bytea not null,
  meta bytea not null,
  hash bytea not null,
  primary key (part, pos),
  unique (part, stream_id, seq),
  unique (part, command_id, idx)
);
