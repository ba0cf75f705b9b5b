-- What a step remembers of a stream, as of its event `seq`, null where that is nothing. Not of the last event: it is
-- stored now and then, and brought up to date by calling the step again.
create table stream_state (
    stream text collate "C" primary key,
    seq bigint not null,
    state json
) with (fillfactor = 60)
