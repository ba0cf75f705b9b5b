-- One row a privileged look at the hidden cards of a hand: who, when, which, how and why.
create table look (
    seq bigint primary key,
    at_ms bigint not null,
    person text collate "C" not null,
    hand_id uuid not null,
    table_id uuid not null,
    what text not null,
    reason text not null
);
create index looks_at_hand on look (hand_id, seq);
create index looks_of_person on look (person, seq);
create index looks_by_time on look (at_ms, seq);
