-- One row a dispute, as it stands now; nothing that people wrote is in it.
create table dispute (
    dispute_id uuid primary key,
    hand_id uuid not null,
    table_id uuid not null,
    currency text not null,
    opener text collate "C" not null,
    role text not null,
    opened_ms bigint not null,
    changed_ms bigint not null,
    phase text not null,
    closed boolean not null,
    outcome text,
    reviewer text,
    due_ms bigint,
    overdue int not null,
    proposals int not null,
    paid bigint not null,
    corrected boolean not null,
    erased boolean not null
) with (fillfactor = 70);
create index disputes_in_order on dispute (closed, opened_ms, dispute_id);
create index disputes_of_opener on dispute (opener, closed, opened_ms, dispute_id);
create index disputes_of_hand on dispute (hand_id);
create index disputes_due on dispute (due_ms) where due_ms is not null;
