create table stream_state (
    stream text collate "C" primary key,
    state json not null
) with (fillfactor = 60)
