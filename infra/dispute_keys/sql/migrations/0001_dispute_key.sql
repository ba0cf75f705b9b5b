-- One row a dispute for ever: without its key the texts of that dispute are erased (R6), and the row left behind keeps
-- anybody from making it a new one. `wrapped` opens under the service's master key alone. It is no fact of the log.
-- A dead row's page is cleaned at the next occasion, not at some share of the table.
create schema dispute;
create table dispute.key (
  dispute_id uuid primary key,
  wrapped bytea,
  made_ms bigint not null,
  erased_ms bigint,
  check ((wrapped is null) = (erased_ms is not null))
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
grant usage on schema dispute to khrap_app;
grant select, insert on dispute.key to khrap_app;
grant update (wrapped, erased_ms) on dispute.key to khrap_app;
