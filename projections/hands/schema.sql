-- One row a hand, running ones too. It is read from its table's stream between first_seq and last_seq.
create table hand (
    hand_id uuid primary key,
    table_id uuid not null,
    hand_no bigint not null,
    game text not null,
    rules int not null,
    currency text not null,
    stake bigint not null,
    dealer smallint not null,
    commitment text not null,
    started_ms bigint not null,
    first_seq bigint not null,
    ended_ms bigint,
    last_seq bigint,
    ending text,
    bank bigint,
    carried_bank bigint,
    void_cause text,
    void_reason text,
    disclosed_to text
) with (fillfactor = 70);
create unique index hands_of_table on hand (table_id, first_seq);

-- Who was dealt in, and how it went for him. purse_before is before the ante.
create table hand_player (
    hand_id uuid not null,
    seat smallint not null,
    player text collate "C" not null,
    started_ms bigint not null,
    purse_before bigint not null,
    status text,
    tricks smallint,
    share bigint,
    commission bigint,
    fine_due bigint,
    fine_paid bigint,
    purse_after bigint,
    primary key (hand_id, seat)
) with (fillfactor = 70);
create index hands_of_player on hand_player (player, started_ms, hand_id);
