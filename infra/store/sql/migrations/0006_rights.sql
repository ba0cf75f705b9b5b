-- The application reads, and appends by the function alone: it can neither write, change nor delete a row of the log.
revoke all on function store.append from public;
grant execute on function store.append to khrap_app;
grant select on store.layout, store.part_head, store.stream_head, store.event to khrap_app;
