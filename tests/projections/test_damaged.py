"""Rows that Postgres can no longer read or write: they stop no other projection, are told of, and are built anew."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from infra.faults import Fault
from projections.engine import projector
from projections.engine.follower import Follower
from projections.engine.rebuilding import Rebuild
from projections.ledger import LEDGER, trial_balance
from tests.projections.conftest import Bench, eventually
from tests.projections.counting import counting
from tests.projections.test_rebuilding import rebuild
from tests.projections.world import evening

KEPT = (LEDGER, counting())
BROKEN = "invalid page in block 0 of relation"


def damage(bench: Bench) -> None:
    """Every use of the ledger's balances fails with what Postgres says of a damaged page (XX001)."""
    with psycopg.connect(bench.database.owner_url) as connection:
        connection.execute(
            f"""
            create function ledger_v1.damaged() returns boolean language plpgsql as $$
            begin raise '{BROKEN}' using errcode = 'XX001'; end $$;
            grant usage on schema ledger_v1 to public;
            alter table ledger_v1.balance enable row level security;
            alter table ledger_v1.balance force row level security;
            create policy damaged on ledger_v1.balance using (ledger_v1.damaged()) with check (ledger_v1.damaged());
            """.encode()
        )


async def status(bench: Bench) -> dict[str, tuple[bool, int, str | None]]:
    """Schema → whether it is kept up, how far it is behind, why it cannot be kept up."""
    return {each.schema: (each.kept, each.lag_events, each.refused) for each in await bench.reader.standings()}


async def test_damaged_rows_stop_no_other_projection_and_are_built_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page stopped all projections, a traceback a second, and no rebuild led out of it: it compared with them."""
    monkeypatch.setattr(projector, "AGAIN_S", 2.5)
    await bench.world.append(evening(1))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        damage(bench)
        await bench.world.append(evening(2))
        await bench.caught_up(KEPT[1:])

        async def is_told() -> bool:
            kept, behind, why = (await status(bench))["ledger_v1"]
            return not kept and behind > 0 and why == BROKEN

        await eventually(is_told)
        with pytest.raises(Fault, match=BROKEN) as raised:
            await trial_balance(bench.reader)
        assert raised.value.code == "projection_missing"
        verified = await rebuild(bench, LEDGER).verify()
        assert verified.comparison is not None
        assert (verified.comparison.damaged, verified.comparison.alike) == ((f"balance: {BROKEN}",), False)
        refused = await rebuild(bench, LEDGER).run()
        assert not refused.switched
        done = await rebuild(bench, LEDGER).run(accept=True)
        assert (done.switched, done.schema) == (True, "ledger_v1_g2")
        await bench.world.append(evening(3))

        async def is_well() -> bool:
            return (await status(bench))["ledger_v1_g2"] == (True, 0, None)

        await eventually(is_well)
        await bench.caught_up(KEPT[1:])
    await bench.compare((LEDGER,), {"ledger": "ledger_v1_g2"})
    await bench.compare(KEPT[1:])


async def test_rows_that_can_be_written_again_are_gone_on_with(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projector, "AGAIN_S", 2.5)
    await bench.world.append(evening(1))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        damage(bench)
        await bench.world.append(evening(2))
        await bench.caught_up(KEPT[1:])
        with psycopg.connect(bench.database.owner_url) as connection:
            connection.execute("drop policy damaged on ledger_v1.balance")
            connection.execute("alter table ledger_v1.balance disable row level security")
        await bench.caught_up(KEPT)

        async def is_well() -> bool:
            return (await status(bench))["ledger_v1"] == (True, 0, None)

        await eventually(is_well)
    await bench.compare(KEPT)


async def test_a_rebuild_that_stands_still_lets_what_serves_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped (Ctrl-Z, or its machine gone) as it held the serving one still, it held up all projections for ever."""
    follow, gate, standing = Rebuild._follow, asyncio.Event(), asyncio.Event()

    async def stand_still(self: Rebuild, follower: Follower[Any], *rest: Any) -> None:
        standing.set()
        await gate.wait()
        await follow(self, follower, *rest)

    monkeypatch.setattr(Rebuild, "_follow", stand_still)
    await bench.world.append(evening(1))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        building = asyncio.create_task(rebuild(bench, LEDGER).run())
        await standing.wait()
        await bench.world.append(evening(2))
        await bench.caught_up(KEPT[1:])

        async def goes_on() -> bool:
            return (await status(bench))["ledger_v1"][1] == 0

        await eventually(goes_on)
        gate.set()
        with pytest.raises(Fault, match="idle-in-transaction timeout"):
            await building
        monkeypatch.undo()
        assert (await rebuild(bench, LEDGER).run()).switched


async def test_a_log_that_cannot_be_read_is_told_in_a_word(bench: Bench) -> None:
    """How long the oldest event has waited is read there."""
    await bench.world.append(evening(1))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
    await bench.world.append(evening(2))
    with psycopg.connect(bench.database.owner_url) as connection:
        connection.execute(
            f"""
            create function store.damaged() returns boolean language plpgsql as $$
            begin raise '{BROKEN}' using errcode = 'XX001'; end $$;
            alter table store.event enable row level security;
            create policy damaged on store.event for select using (store.damaged());
            """.encode()
        )
    with pytest.raises(Fault, match=BROKEN) as raised:
        await bench.reader.standings()
    assert raised.value.code == "store_damaged"
