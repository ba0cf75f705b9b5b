-- One row a posting: `amount` goes from the account `debit` to the account `credit`. `part`, `pos` and `at_ms` are of the event
-- that let it take effect (for those of a hand, its end), `seq` is the event of `stream` that it is for.
create table entry (
    part smallint not null,
    pos bigint not null,
    n smallint not null,
    at_ms bigint not null,
    stream text collate "C" not null,
    seq bigint not null,
    hand_id uuid,
    clause text collate "C" not null,
    currency text collate "C" not null,
    debit text collate "C" not null,
    credit text collate "C" not null,
    amount bigint not null check (amount > 0),
    primary key (part, pos, n)
);
create index entry_debit on entry (debit, currency, at_ms, part, pos, n);
create index entry_credit on entry (credit, currency, at_ms, part, pos, n);
create index entry_hand on entry (hand_id) where hand_id is not null;

-- What was credited to an account less what was debited, by the part of the streams that moved it: so that the accounts
-- that everybody touches (`cash`, `house:…`) are no row that everybody waits for. No amount passes 2^63, but their sums may.
create table balance (
    account text collate "C" not null,
    currency text collate "C" not null,
    part smallint not null,
    balance numeric(38) not null default 0,
    primary key (account, currency, part)
) with (fillfactor = 60);
