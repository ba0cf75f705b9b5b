-- One row a hand that is over: when it ended and what was played for. Its results are with the hands.
create table hand (
    hand_id uuid primary key,
    table_id uuid not null,
    ended_ms bigint not null,
    bank bigint not null
);
create index hands_by_end on hand (ended_ms, hand_id);
create index hands_of_table on hand (table_id, ended_ms, hand_id);

-- Who was dealt in.
create table dealt_in (
    player text collate "C" not null,
    ended_ms bigint not null,
    hand_id uuid not null,
    primary key (player, ended_ms, hand_id)
);

-- What was out of the common in a hand: see `Flag`.
create table flag (
    flag text collate "C" not null,
    ended_ms bigint not null,
    hand_id uuid not null,
    primary key (flag, ended_ms, hand_id)
);
