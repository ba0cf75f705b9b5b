-- When a steward last ran: one row, overwritten twice a second. It is no fact of the log: losing it costs the open
-- decisions nothing but their renewal (T11).
create schema steward;
create table steward.beat (
  only_row boolean primary key default true check (only_row),
  at_ms bigint not null
) with (fillfactor = 50);
grant usage on schema steward to khrap_app;
grant select, insert, update on steward.beat to khrap_app;
