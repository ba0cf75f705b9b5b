"""The ledger on a real store: entries, balances, statements, and what is found when one of them is tampered with."""

from __future__ import annotations

from collections import Counter

import psycopg
import pytest
from msgspec.structs import replace

from domain.events import (
    CashedOut,
    CommissionTaken,
    HandSettled,
    HandStarted,
    HandVoided,
    PlayerResult,
    Result,
    SeatAmount,
    SharePaid,
    TableHalted,
    TableOpened,
    TrickTaken,
)
from domain.ledger import accounts
from projections.ledger import (
    LEDGER,
    Balance,
    Line,
    Reconciliation,
    balances,
    entries_of_hand,
    in_transit,
    mismatches,
    reconcile,
    statement,
    trial_balance,
)
from projections.paging import BadCursor
from tests.domain.ledger.evenings import Entry
from tests.domain.ledger.folding import Fold
from tests.projections.conftest import Bench, eventually
from tests.projections.world import commands, evening, table_id

OURS = (LEDGER,)
CURRENCY = "RUB"


def _folded(log: list[Entry]) -> Fold:
    fold = Fold()
    for entry in log:
        fold.add(entry)
    return fold


def _rich(least: int, hands: int) -> tuple[int, list[Entry]]:
    """The first evening from seed `least` on with shares and commission in several hands, and its seed."""
    for seed in range(least, least + 100):
        log = evening(seed, hands=hands)
        if sum(isinstance(e.event, CommissionTaken) for e in log) > 2:
            return seed, log
    pytest.fail("no such evening")


async def _reconciled(bench: Bench) -> Reconciliation:
    return await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)


async def test_balances_are_those_of_the_log_and_the_trial_balance_is_zero(bench: Bench) -> None:
    evenings = evening(1, close=False), evening(2, game="frap"), evening(3, game="khrap5")
    log = [entry for each in evenings for entry in each]
    fold = _folded(log)
    await bench.world.append(*evenings)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    await bench.compare(OURS)
    trial = await trial_balance(bench.reader)
    assert trial.zero
    assert trial.sums() == {CURRENCY: 0}
    by_kind: Counter[str] = Counter()
    for account, amount in fold.balances.items():
        by_kind[accounts.kind(account)] += amount
    assert {t.kind: t.balance for t in trial.totals} == by_kind
    found = await balances(bench.reader, fold.balances)
    assert {b.account: b.balance for b in found} == fold.balances
    assert await in_transit(bench.reader) == ()
    assert await mismatches(bench.reader) == ()
    reconciled = await _reconciled(bench)
    assert reconciled.holds, reconciled
    assert (reconciled.events, reconciled.entries) == (len(log), len(fold.postings))


async def test_the_entries_of_a_hand_come_with_its_end(bench: Bench) -> None:
    _, log = _rich(400, hands=6)
    await bench.world.append(log)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    after = next(e.seq for e in log if isinstance(e.event, CommissionTaken))
    end = next(e for e in log if isinstance(e.event, HandSettled) and e.seq > after)
    assert isinstance(end.event, HandSettled)
    found = await entries_of_hand(bench.reader, end.event.hand_id)
    mine = [p for p in _folded(log).postings if p.hand_id == end.event.hand_id]
    assert [(e.debit, e.credit, e.amount, e.clause, e.seq) for e in found] == [
        (p.debit, p.credit, p.amount, p.clause, p.seq) for p in mine
    ]
    assert {e.at_ms for e in found} == {end.at_ms}
    taken = sum(e.amount for e in found if e.credit == accounts.COMMISSION)
    assert taken == sum(p.commission for p in end.event.result.players) > 0


async def test_a_statement_runs_page_by_page_from_its_opening_to_its_balance(bench: Bench) -> None:
    seed, log = _rich(500, hands=12)
    await bench.world.append(log)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    fold = _folded(log)
    most, _ = Counter(p.credit for p in fold.postings if accounts.kind(p.credit) == "player").most_common(1)[0]
    ours = most, accounts.purse(table_id(seed), most.partition(":")[2])
    for account in (*ours, accounts.CASH, accounts.COMMISSION):
        whole = await statement(bench.reader, account, CURRENCY, limit=1_000)
        assert (whole.opening, whole.next) == (0, None)
        assert len(whole.lines) > 2
        assert whole.lines[-1].balance == fold.balances[account]
        lines: list[Line] = []
        page = replace(whole, lines=(), next="")
        while page.next is not None:
            page = await statement(bench.reader, account, CURRENCY, cursor=page.next or None, limit=2)
            assert page.opening == (lines[-1].balance if lines else 0)
            lines += page.lines
        assert tuple(lines) == whole.lines
        middle = whole.lines[len(whole.lines) // 2].at_ms
        later = await statement(bench.reader, account, CURRENCY, from_ms=middle, limit=1_000)
        earlier = await statement(bench.reader, account, CURRENCY, to_ms=middle, limit=1_000)
        assert earlier.lines + later.lines == whole.lines
        assert later.opening == (earlier.lines[-1].balance if earlier.lines else 0)
    with pytest.raises(BadCursor):
        await statement(bench.reader, accounts.CASH, CURRENCY, cursor="what?")


def _off_by_one(log: list[Entry]) -> tuple[list[Entry], Entry]:
    """The log with one share a unit too large, consistently, as a slip in the settlement would have it."""
    wrong = next(i for i, e in enumerate(log) if isinstance(e.event, SharePaid))
    share = log[wrong]
    assert isinstance(share.event, SharePaid)
    end = next(i for i in range(wrong, len(log)) if isinstance(log[i].event, HandSettled))
    settled = log[end].event
    assert isinstance(settled, HandSettled)
    players = tuple(
        replace(p, share=p.share + 1, purse=p.purse + 1) if p.seat == share.event.seat else p
        for p in settled.result.players
    )
    result = replace(settled.result, players=players)
    changed = list(log)
    changed[wrong] = replace(share, event=replace(share.event, amount=share.event.amount + 1))
    changed[end] = replace(log[end], event=replace(settled, result=result))
    return changed, changed[wrong]


async def test_t9_a_mismatch_parks_its_table_and_no_other(bench: Bench) -> None:
    wrong, share = _off_by_one(_rich(600, hands=6)[1])
    right = _rich(800, hands=6)[1]
    await bench.world.append(wrong, right)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
        (parked,) = await mismatches(bench.reader)
        assert (parked.stream, parked.seq, parked.code) == (share.stream, share.seq, "mismatch")
        assert isinstance(share.event, SharePaid)
        amount = share.event.amount
        assert parked.reason.startswith(
            f"T9: the share of seat {share.event.seat} is recorded as {amount}, reckoned as {amount - 1} (hand "
        )
        # What comes to that table later waits too, and the others go on.
        head, _ = bench.world.heads[share.stream]
        halt = TableHalted(reason=parked.reason, fault=True)
        await bench.world.append([Entry(share.stream, head + 1, b"h" * 16, share.at_ms, halt)])
        await bench.caught_up(OURS)
    hand = next(e.event.hand_id for e in wrong if isinstance(e.event, HandSettled) and e.seq > share.seq)
    assert await entries_of_hand(bench.reader, hand) == ()
    assert (await trial_balance(bench.reader)).zero
    own = {account: amount for account, amount in _folded(right).balances.items() if "house" not in account}
    del own[accounts.CASH]
    assert {b.account: b.balance for b in await balances(bench.reader, own)} == own
    reconciled = await _reconciled(bench)
    assert [w.stream for w in reconciled.waiting] == [share.stream]
    assert {d.what for d in reconciled.differences} <= {"table", "transit"}
    assert {d.account for d in reconciled.differences if d.what == "table"}
    assert all(d.where == share.stream for d in reconciled.differences if d.what == "table")


async def test_t12_a_disputed_hand_that_ops_void_is_taken_up_by_itself(bench: Bench) -> None:
    """The alarm lets ops void the hand; its stream is applied as a whole when it is tried again."""
    wrong, void = _disputed_and_voided()
    await bench.world.append(wrong)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    (parked,) = await mismatches(bench.reader)
    assert parked.reason.startswith("K16: the taker of trick 1")
    await bench.world.append(void)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    async with bench.projecting(OURS):  # parked streams are tried again at a start

        async def resumed() -> bool:
            return not await mismatches(bench.reader)

        await eventually(resumed)
    assert isinstance(void[0].event, HandVoided)
    found = await entries_of_hand(bench.reader, void[0].event.hand_id)
    assert {e.clause for e in found} == {"T5", "T12"}
    assert sum(e.amount for e in found if e.clause == "T12") == sum(r.amount for r in void[0].event.returned)
    reconciled = await _reconciled(bench)
    assert reconciled.holds, reconciled


def _disputed_and_voided() -> tuple[list[Entry], list[Entry]]:
    """A log that ends in the first hand with a trick, which is given to a wrong seat; and how ops void that hand."""
    for seed in range(700, 800):
        log = evening(seed, hands=6, close=False)
        tricks = [i for i, e in enumerate(log) if isinstance(e.event, TrickTaken) and e.event.trick == 1]
        if tricks:
            break
    else:
        pytest.fail("no such evening")
    trick = log[tricks[0]]
    assert isinstance(trick.event, TrickTaken)
    wrong = next(s for s in range(9) if s != trick.event.seat)
    until = log[: tricks[0]]
    started = next(e.event for e in reversed(until) if isinstance(e.event, HandStarted))
    result = Result(
        ending="voided",
        bank=started.table.carried_bank,
        carried_bank=started.table.carried_bank,
        next_dealer=started.dealer,
        players=tuple(
            PlayerResult(
                seat=s.seat,
                status="passed",
                tricks=0,
                share=0,
                commission=0,
                fine_due=0,
                fine_paid=0,
                purse=s.purse,
            )
            for s in started.table.seats
            if s.seat in started.dealt_in
        ),
    )
    returned = tuple(SeatAmount(seat=s, amount=started.ante) for s in started.dealt_in if started.ante)
    voided = HandVoided(
        hand_id=started.hand_id, cause="ops", reason="an alarm", returned=returned, result=result, ops=("o1", "o2")
    )
    disputed = replace(trick, event=replace(trick.event, seat=wrong))
    return [*until, disputed], [Entry(trick.stream, trick.seq + 1, b"v" * 16, trick.at_ms, voided)]


INVENTION = """
insert into entry select part, pos, 99, at_ms, stream, seq, hand_id, clause, currency, debit, credit, amount
from entry where (part, pos, n) = {place}
"""
TAMPERINGS = {
    "amount": ("update entry set amount = amount + 1 where (part, pos, n) = {place}", "its amount"),
    "account": ("update entry set credit = 'house:commission' where (part, pos, n) = {place}", "its credit"),
    "removed": ("delete from entry where (part, pos, n) = {place}", "it is missing"),
    "clause": ("update entry set clause = 'T5' where (part, pos, n) = {place}", "its clause"),
    "invented": (INVENTION, "there should be none"),
}


@pytest.mark.parametrize("how", TAMPERINGS)
async def test_reconcile_names_one_posting_that_was_tampered_with(bench: Bench, how: str) -> None:
    await bench.world.append(_rich(900, hands=4)[1], evening(9, hands=2))
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    change, said = TAMPERINGS[how]
    with psycopg.connect(bench.database.owner_url, autocommit=True) as connection:
        connection.execute(f"set search_path = {LEDGER.schema}")
        row = connection.execute(
            "select part, pos, n, debit, credit, amount, stream, seq from entry where clause = 'T9' order by 1, 2, 3"
        ).fetchone()
        assert row is not None
        part, pos, n, debit, credit, amount, stream, seq = row
        connection.execute(change.format(place=f"({part}, {pos}, {n})"))
    reconciled = await _reconciled(bench)
    assert not reconciled.holds
    posting = 99 if how == "invented" else n
    where = f"part {part}, position {pos}, posting {posting} ({stream}, event {seq}): {said}"
    assert {(d.what, d.where) for d in reconciled.differences} == {("entry", where)}
    sides = {d.account: (d.book, d.expected) for d in reconciled.differences}
    assert (
        sides
        == {
            "amount": {debit: (-amount - 1, -amount), credit: (amount + 1, amount)},
            "account": {debit: (-amount, -amount), credit: (0, amount), accounts.COMMISSION: (amount, 0)},
            "removed": {debit: (0, -amount), credit: (0, amount)},
            "clause": {debit: (-amount, -amount), credit: (amount, amount)},
            "invented": {debit: (-amount, 0), credit: (amount, 0)},
        }[how]
    )


async def test_reconcile_names_a_balance_that_was_tampered_with(bench: Bench) -> None:
    log = evening(10, hands=2)
    await bench.world.append(log)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    with psycopg.connect(bench.database.owner_url, autocommit=True) as connection:
        connection.execute(
            f"update {LEDGER.schema}.balance set balance = balance + 5 where account = %s", [accounts.player("e10p0")]
        )
    expected = _folded(log).balances[accounts.player("e10p0")]
    (difference,) = (await _reconciled(bench)).differences
    assert (difference.what, difference.account) == ("balance", accounts.player("e10p0"))
    assert (difference.book, difference.expected) == (expected + 5, expected)
    assert not (await trial_balance(bench.reader)).zero


async def test_reconcile_compares_where_the_projection_stands(bench: Bench) -> None:
    """Play may go on: what the projection has not passed yet is no difference."""
    ahead = list(commands(evening(11, hands=4)))
    half = len(ahead) // 2
    for command in ahead[:half]:
        await bench.world.command(command)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    for command in ahead[half:]:
        await bench.world.command(command)
    reconciled = await _reconciled(bench)
    assert reconciled.holds, reconciled
    assert reconciled.events == bench.world.events


async def test_t3_money_that_never_arrives_is_named(bench: Bench) -> None:
    """A purse left a table and no account got it: it stays in transit."""
    log = evening(12, hands=2)
    lost = [e for e in log if isinstance(e.event, CashedOut)][-1]
    await bench.world.append([e for e in log if e is not lost])
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    assert isinstance(lost.event, CashedOut)
    account, amount = accounts.transit(lost.command_id), lost.event.amount
    assert await in_transit(bench.reader) == (Balance(account, CURRENCY, amount),)
    (difference,) = (await _reconciled(bench)).differences
    assert (difference.what, difference.account, difference.book, difference.expected) == (
        "transit",
        account,
        amount,
        0,
    )


async def test_an_unknown_version_of_the_rules_waits_without_an_alarm(bench: Bench) -> None:
    """A newer ledger will take the stream up: it is no mismatch, and no table is halted for it."""
    log = evening(13, hands=1)
    opened, started = (next(e for e in log if isinstance(e.event, kind)) for kind in (TableOpened, HandStarted))
    assert isinstance(opened.event, TableOpened)
    assert isinstance(started.event, HandStarted)
    newer = replace(opened.event.settings, rules=2)
    events = {
        id(opened): replace(opened.event, settings=newer),
        id(started): replace(started.event, table=replace(started.event.table, settings=newer)),
    }
    await bench.world.append([replace(e, event=events.get(id(e), e.event)) for e in log])
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    (parked,) = await bench.reader.parked("ledger")
    assert (parked.stream, parked.seq, parked.code) == (started.stream, started.seq, "failed")
    assert "khrap, rules version 2" in parked.reason
    assert await mismatches(bench.reader) == ()
