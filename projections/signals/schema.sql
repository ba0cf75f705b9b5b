-- Hands of a player at a table that are over.
create table played (
    player text collate "C" not null,
    currency text collate "C" not null,
    table_id uuid not null,
    hands bigint not null default 0,
    primary key (player, currency, table_id)
) with (fillfactor = 60);

-- What was counted of a player, or of him and another, at a table: see `definitions`. `other` is empty where there is none.
create table tally (
    kind text collate "C" not null,
    player text collate "C" not null,
    other text collate "C" not null,
    currency text collate "C" not null,
    table_id uuid not null,
    times bigint not null default 0,
    chances bigint not null default 0,
    amount bigint not null default 0,
    won bigint not null default 0,
    time_bank_ms bigint not null default 0,
    by_ops bigint not null default 0,
    primary key (kind, player, other, currency, table_id)
) with (fillfactor = 60);
create index tally_of_other on tally (other) where other <> '';

-- The hands that it rests on.
create table rests_on (
    kind text collate "C" not null,
    player text collate "C" not null,
    other text collate "C" not null,
    currency text collate "C" not null,
    ended_ms bigint not null,
    hand_id uuid not null,
    table_id uuid not null,
    times bigint not null,
    amount bigint not null,
    primary key (kind, player, other, currency, ended_ms, hand_id)
);
