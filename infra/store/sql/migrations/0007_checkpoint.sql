-- Signed checkpoints of the log, numbered from 1; `sealed` holds part, size and root of the tree of each part with events
-- (infra/audit/checkpoint.py). Rows are only ever added: the application's role can neither change nor delete one.
create table store.checkpoint (
  number bigint primary key check (number > 0),
  at_ms bigint not null,
  previous bytea not null,
  parts int not null,
  sealed bytea not null,
  key bytea not null,
  signature bytea not null
);
-- The whole nodes of the parts' trees: number `idx` of `level` is the root over 256^level events (infra/store/merkle.py).
-- They follow from the log, and spare a checkpoint or a proof from reading all of it.
create table store.node (
  part smallint not null,
  level smallint not null check (level > 0),
  idx bigint not null,
  hash bytea not null,
  primary key (part, level, idx)
);
grant select, insert on store.checkpoint, store.node to khrap_app;
