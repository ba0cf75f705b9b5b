-- Who sits where, now.
create table seated (
    player text collate "C" not null,
    table_id uuid not null,
    seat smallint not null,
    since_ms bigint not null,
    game text not null,
    currency text not null,
    stake bigint not null,
    primary key (player, table_id)
);

-- What the settled hands at a table brought a player, and what he got of its bank (T13), in minor units.
create table result (
    player text collate "C" not null,
    table_id uuid not null,
    currency text not null,
    hands bigint not null default 0,
    net bigint not null default 0,
    primary key (player, table_id, currency)
) with (fillfactor = 60);
