-- One row a table, closed ones too: their last change is news as well. (part, pos) is the event that changed it last.
create table lobby_table (
    table_id uuid primary key,
    part smallint not null,
    pos bigint not null,
    seq bigint not null,
    opened_ms bigint not null,
    changed_ms bigint not null,
    game text not null,
    currency text not null,
    has_room boolean not null,
    settings jsonb not null,
    seats jsonb not null,
    carried_bank bigint not null,
    hand_id uuid,
    hand_no bigint not null,
    halted text,
    closing boolean not null,
    closed boolean not null
) with (fillfactor = 60);
create index open_tables on lobby_table (table_id) where not closed;
create index changed_tables on lobby_table (part, pos);
