"""Accounts that everybody touches hold sums past 2^63, and the books go on and can be read (T2, N)."""

from __future__ import annotations

from itertools import count

import msgspec
import psycopg
import pytest
from msgspec.structs import replace

from domain.events import CommissionTaken, Deposited
from domain.ledger import accounts
from domain.money import MAX_AMOUNT
from infra.faults import Fault
from infra.migrations import FOLDERS
from infra.store.chain import part_of
from infra.store.migrate import migrate
from projections.catalogue import PROJECTIONS
from projections.engine.rebuilding import Rebuild
from projections.ledger import (
    LEDGER,
    balances,
    in_transit,
    reconcile,
    statement,
    trial_balance,
)
from projections.reports import commission
from tests.domain.ledger.evenings import CURRENCY
from tests.projections.conftest import Bench, eventually
from tests.projections.rich import deposited, in_one_part, withdrawn
from tests.projections.world import evening

OURS = (LEDGER,)
FORMER = replace(
    LEDGER,
    ddl=LEDGER.ddl.replace(" No amount passes 2^63, but their sums may.", "").replace("numeric(38)", "bigint"),
)
"""The ledger as it was made before its balances were numeric."""


async def test_deposits_past_the_largest_amount_stop_nothing_and_are_read(bench: Bench) -> None:
    rich = in_one_part(bench.world.store.parts, 5)
    table = evening(1)
    async with bench.projecting():
        for player in rich:
            await bench.world.append(deposited(player))
        await bench.world.append(table)
        await bench.caught_up()
    assert [each.parked for each in await bench.reader.standings() if each.parked] == []
    await bench.compare(PROJECTIONS)
    own = sum(e.event.amount for e in table if isinstance(e.event, Deposited))
    (cash,) = await balances(bench.reader, [accounts.CASH])
    assert cash.balance == -(5 * MAX_AMOUNT + own)
    trial = await trial_balance(bench.reader)
    assert trial.zero
    totals = {total.kind: total.balance for total in trial.totals}
    assert totals["cash"] == cash.balance
    assert totals["player"] >= 5 * MAX_AMOUNT
    assert msgspec.json.decode(msgspec.json.encode(trial), type=type(trial)) == trial
    assert await in_transit(bench.reader) == ()
    lines = await statement(bench.reader, accounts.CASH, CURRENCY, limit=1_000)
    assert min(line.balance for line in lines.lines) <= -5 * MAX_AMOUNT
    last = await statement(bench.reader, accounts.CASH, CURRENCY, from_ms=lines.lines[-1].at_ms + 1)
    assert last.opening == cash.balance
    page = await statement(bench.reader, accounts.CASH, CURRENCY, limit=6)
    assert page.next is not None
    more = await statement(bench.reader, accounts.CASH, CURRENCY, cursor=page.next, limit=1_000)
    assert more.opening == page.lines[-1].balance
    assert page.lines + more.lines == lines.lines


async def test_the_books_beside_the_log_and_built_anew_are_the_same(bench: Bench) -> None:
    """Many of them are summed before one row is written; what comes back is counted on."""
    rich = in_one_part(bench.world.store.parts, 4)
    await bench.world.append(*(deposited(player) for player in rich), evening(2))
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
        await bench.world.append(withdrawn(rich[0]), deposited("someone", 5))
        await bench.caught_up(OURS)
        reconciled = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
        assert reconciled.holds, reconciled
        done = await Rebuild(
            bench.database.app_url, bench.world.store, bench.world.codec.decode_public, LEDGER, processes=1
        ).run()
    assert (done.switched, done.broken) == (True, ())
    assert done.comparison is not None
    assert done.comparison.alike
    (cash,) = await balances(bench.reader, [accounts.CASH])
    assert cash.balance <= -3 * MAX_AMOUNT


async def test_t10_a_day_s_commission_past_the_largest_amount_is_reported(bench: Bench) -> None:
    """The sum over many hands: no hand's amount is too large for a row."""
    made = (evening(seed, hands=6) for seed in count(400))
    await bench.world.append(next(log for log in made if sum(isinstance(e.event, CommissionTaken) for e in log) > 2))
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    with psycopg.connect(bench.database.owner_url, autocommit=True) as owner:
        changed = owner.execute(
            f"update {LEDGER.schema}.entry set amount = %s where credit = %s", [MAX_AMOUNT, accounts.COMMISSION]
        ).rowcount
    assert changed > 2
    rows = (await commission(bench.reader)).items
    assert sum(row.amount for row in rows) == changed * MAX_AMOUNT
    assert max(row.amount for row in rows) > MAX_AMOUNT


async def test_books_made_before_are_widened_by_the_migration(bench: Bench) -> None:
    await bench.world.append(evening(3, close=False))
    async with bench.projecting((FORMER,)):
        await bench.caught_up((FORMER,))
    async with bench.projecting(OURS) as running:
        with pytest.raises(Fault, match="projection_changed"):
            await running
    with psycopg.connect(bench.database.owner_url, autocommit=True) as owner:
        owner.execute("delete from store.migration where (folder, number) = ('projections', 5)")
    (applied,) = await migrate(bench.database.owner_url, FOLDERS)
    assert (applied.folder, applied.name) == ("projections", "wide_balances")
    async with bench.projecting(OURS):
        for player in in_one_part(bench.world.store.parts, 3):
            await bench.world.append(deposited(player))
        await bench.caught_up(OURS)
    await bench.compare(OURS)
    reconciled = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
    assert reconciled.holds, reconciled


async def test_where_the_row_is_too_narrow_one_stream_waits_and_the_books_are_read(bench: Bench) -> None:
    """The former rows: what Postgres refuses parks the stream that it comes of, and the rest is in the sums."""
    first, second = in_one_part(bench.world.store.parts, 2)
    async with bench.projecting((FORMER,)):
        await bench.world.append(deposited(first))
        await bench.caught_up((FORMER,))
        await bench.world.append(deposited(second), evening(4))
        await bench.caught_up((FORMER,))

        async def waits() -> bool:
            return bool(await bench.reader.parked("ledger"))

        await eventually(waits)
        other = next(f"other{n}" for n in count() if _part(bench, f"other{n}") != _part(bench, first))
        await bench.world.append(deposited(other))
        await bench.caught_up((FORMER,))
    (parked,) = await bench.reader.parked("ledger")
    assert (parked.stream, parked.seq, parked.code) == (f"account-{second}-{CURRENCY}", 2, "rejected")
    trial = await trial_balance(bench.reader)
    assert trial.zero
    (cash,) = await balances(bench.reader, [accounts.CASH])
    assert cash.balance <= -2 * MAX_AMOUNT


def _part(bench: Bench, player: str) -> int:
    return part_of(f"account-{player}-{CURRENCY}", bench.world.store.parts)
