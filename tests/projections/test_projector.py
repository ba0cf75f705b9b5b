"""The engine: every event once, in order, in one transaction with its checkpoint. Source: DESIGN "Projections"."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import signal
import sys

import psycopg
import pytest

from infra.faults import Fault
from infra.projection_store import ProjectionWriter, WriteStale
from projections.catalogue import PROJECTIONS
from projections.engine import memory
from projections.engine.applying import Applier
from projections.engine.follower import Follower
from projections.engine.log import Log
from projections.engine.types import Projection
from projections.search import SEARCH
from tests.projections.conftest import Bench, eventually
from tests.projections.counting import counting
from tests.projections.world import evening, pieces

COUNTING = counting()
ALL: tuple[Projection, ...] = (*PROJECTIONS, COUNTING)  # type: ignore[type-arg]


async def test_catches_up_and_follows(bench: Bench) -> None:
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting(ALL):
        await bench.caught_up(ALL)
        await bench.world.append(evening(3), evening(4, game="frap"))
        await bench.caught_up(ALL)
    await bench.compare(ALL)


async def test_applies_once_while_back_ends_are_killed(bench: Bench) -> None:
    """The connections of the projector and of the store are cut at random, in the middle of commits too."""
    rng = random.Random("kill back-ends")
    killed = 0

    async def kill() -> None:
        nonlocal killed
        async with await psycopg.AsyncConnection.connect(bench.database.owner_url, autocommit=True) as connection:
            while True:
                await asyncio.sleep(rng.uniform(0.01, 0.1))
                found = await connection.execute(
                    "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                    " where datname = current_database() and pid <> pg_backend_pid() and query ilike '%%projection%%'"
                )
                row = await found.fetchone()
                killed += row[0] if row else 0

    async with bench.projecting(ALL):
        await eventually(lambda: _stands(bench, "counting"))
        killing = asyncio.create_task(kill())
        for seed in itertools.count(10, 3):
            await bench.world.append(*(evening(seed + i, hands=3) for i in range(3)))
            if killed > 3:
                break
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        await bench.caught_up(ALL)
    await bench.compare(ALL)


CHILD = """
import asyncio
from infra.store import EventStore
from projections.runner import run
from projections.catalogue import PROJECTIONS
from tests.projections.counting import counting
from tests.projections.world import codec

async def main():
    kept = (*PROJECTIONS, counting())
    async with await EventStore.open({app_url!r}) as store:
        await run(store, codec(), database_url={app_url!r}, redis_url={redis_url!r}, projections=kept)

asyncio.run(main())
"""


async def test_applies_once_while_processes_are_killed(bench: Bench) -> None:
    """kill -9 at random moments, restart, and two processes that hand over to each other."""
    rng = random.Random("kill processes")
    code = CHILD.format(app_url=bench.database.app_url, redis_url=bench.redis_url)

    async def start() -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(sys.executable, "-c", code)

    async def live_and_die() -> None:
        while True:
            child = await start()
            try:
                await asyncio.sleep(rng.uniform(0.8, 2.0))
            finally:
                child.send_signal(signal.SIGKILL)
                await child.wait()

    mortals = [asyncio.create_task(live_and_die()) for _ in range(2)]
    for seed in (30, 33):
        await bench.world.append(*(evening(seed + i, hands=3) for i in range(3)))
        await asyncio.sleep(1.0)
    for each in mortals:
        each.cancel()
    await asyncio.gather(*mortals, return_exceptions=True)
    last = await start()
    try:
        await bench.caught_up(ALL)
    finally:
        last.send_signal(signal.SIGTERM)
        await last.wait()
    await bench.compare(ALL)


async def test_processes_share_the_work_and_take_over(bench: Bench) -> None:
    await bench.world.append(evening(40))
    async with contextlib.AsyncExitStack() as both:
        first = await both.enter_async_context(bench.projecting((COUNTING,)))
        await bench.caught_up((COUNTING,))
        await both.enter_async_context(bench.projecting((COUNTING,)))
        await eventually(lambda: _holders(bench, 2))
        await bench.world.append(evening(41))
        await bench.caught_up((COUNTING,))
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await bench.world.append(evening(42))
        await bench.caught_up((COUNTING,))
        await eventually(lambda: _holders(bench, 1))
    await bench.compare((COUNTING,))


@pytest.mark.parametrize("store_every", [1, 3, 64, 10_000])
async def test_states_are_had_again_after_a_restart(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, store_every: int
) -> None:
    """Whatever was stored of them, and though memory holds two streams only."""
    monkeypatch.setattr(memory, "STORE_EVERY", store_every)
    monkeypatch.setattr(memory, "REMEMBERED", 2)
    evenings = [pieces(evening(seed, hands=4), 4) for seed in (70, 71, 72)]
    for number in range(4):
        async with bench.projecting(ALL):
            await bench.world.append(*(each[number] for each in evenings))
            await bench.caught_up(ALL)
    await bench.compare(ALL)
    assert [each.parked for each in await bench.reader.standings()] == [()] * len(ALL)


async def test_another_ddl_under_the_same_version_is_refused(bench: Bench) -> None:
    async with bench.projecting((COUNTING,)):
        await bench.caught_up((COUNTING,))
    changed = Projection(
        name=COUNTING.name,
        version=1,
        ddl=COUNTING.ddl + "create table more (n int primary key);",
        streams=COUNTING.streams,
        handles=COUNTING.handles,
        state=COUNTING.state,
        initial=COUNTING.initial,
        step=COUNTING.step,
    )
    async with bench.projecting((changed,)) as running:
        with pytest.raises(Fault, match="projection_changed"):
            await asyncio.wait_for(asyncio.shield(running), 10)


async def test_another_version_waits_for_its_rebuild(bench: Bench) -> None:
    """A process that has both keeps the one that there is; the other is made beside it, and not by the way."""
    await bench.world.append(evening(50, hands=1))
    newer = counting(version=2)
    async with bench.projecting((COUNTING,)):
        await bench.caught_up((COUNTING,))
    async with bench.projecting((COUNTING, newer)):
        await bench.world.append(evening(51, hands=1))
        await bench.caught_up((COUNTING,))
    standings = await bench.reader.standings()
    assert [(each.version, each.serving) for each in standings] == [(1, True)]
    await bench.compare((COUNTING,))


async def test_a_new_projection_serves_once_it_is_there(bench: Bench) -> None:
    """No reader sees a half-built one: it begins to serve in the transaction that brings it to the log's end."""
    await bench.world.append(*(evening(seed) for seed in range(60, 64)))
    seen: set[tuple[bool, bool]] = set()
    async with bench.projecting((COUNTING,)):

        async def serves() -> bool:
            standing = await bench.standing("counting")
            if standing is not None:
                seen.add((standing.serving, standing.position == standing.head))
            return standing is not None and standing.serving

        await eventually(serves)
    assert (True, False) not in seen
    assert (True, True) in seen


async def test_the_log_is_closed_to_the_role_that_writes_projections(bench: Bench) -> None:
    await bench.world.append(evening(55, hands=1))
    refused: list[str] = []
    for statement in (
        "insert into store.event select * from store.event limit 1",
        "update store.event set pos = pos + 1",
        "delete from store.event",
        "update store.part_head set last_pos = 0",
        "create schema other",
        "select projection.make_schema('store')",
        "drop schema store cascade",
    ):
        async with await psycopg.AsyncConnection.connect(bench.database.app_url, autocommit=True) as connection:
            with pytest.raises(psycopg.Error) as raised:
                await connection.execute(statement.encode())
            refused.append(raised.value.sqlstate or "")
    assert refused == ["42501", "42501", "42501", "42501", "42501", "3F000", "42501"]


async def test_standings_tell_lag_in_events_and_time(bench: Bench) -> None:
    async with bench.projecting((COUNTING,)):
        await bench.caught_up((COUNTING,))
    entries = evening(60, hands=1)
    await bench.world.append(entries)
    standing = await bench.standing("counting")
    assert standing is not None
    assert (standing.position, standing.head) == (0, len(entries))
    assert standing.behind_since == "2023-11-14T22:13:20.000Z"
    async with bench.projecting((COUNTING,)):
        await bench.caught_up((COUNTING,))
    standing = await bench.standing("counting")
    assert standing is not None
    assert standing.behind_since is None


async def _holders(bench: Bench, count: int) -> bool:
    """All there is to do is shared among so many processes."""
    async with await psycopg.AsyncConnection.connect(bench.database.owner_url) as connection:
        found = await connection.execute(
            "select array_agg(name order by name), count(distinct holder) from lease.held"
            " where until > clock_timestamp()"
        )
        return await found.fetchone() == (["counting_v1", "live"], count)


async def _stands(bench: Bench, name: str) -> bool:
    return await bench.standing(name) is not None


async def test_a_stopped_process_loses_its_share_and_does_no_harm_when_it_wakes(bench: Bench) -> None:
    """SIGSTOP: it keeps its connections and says nothing. Another takes over; awake again it finds that out."""
    code = CHILD.format(app_url=bench.database.app_url, redis_url=bench.redis_url)
    await bench.world.append(evening(80))
    stopped = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    async with contextlib.AsyncExitStack() as stack:
        try:
            await bench.caught_up(ALL)
            stopped.send_signal(signal.SIGSTOP)
            await bench.world.append(evening(81))
            await stack.enter_async_context(bench.projecting(ALL))
            await bench.caught_up(ALL)
            stopped.send_signal(signal.SIGCONT)
            for seed in range(82, 88):
                await bench.world.append(evening(seed, hands=2))
                await asyncio.sleep(0.3)
            await bench.caught_up(ALL)
            assert stopped.returncode is None
        finally:
            stopped.send_signal(signal.SIGCONT)
            stopped.kill()
            await stopped.wait()
        await bench.world.append(evening(90))
        await bench.caught_up(ALL)
    await bench.compare(ALL)


async def test_rows_that_are_there_since_their_batch_was_applied_before_are_no_bad_rows(bench: Bench) -> None:
    # A commit whose answer was lost, or another process's: the rows come first, and Postgres refuses them twice.
    async with bench.projecting([SEARCH]):
        await bench.caught_up([SEARCH])
    await bench.world.append(evening(1))
    writer = await ProjectionWriter.connect(bench.database.app_url)
    try:
        log = Log(bench.world.store, bench.world.codec.decode_public)
        checkpoint, shapes = await writer.checkpoint(SEARCH.schema), await writer.shapes(SEARCH.schema)
        first, second = (Follower(SEARCH, SEARCH.schema, shapes, checkpoint) for _ in range(2))
        batch = await log.read(checkpoint.vector, 10_000)
        await Applier(log, writer).apply([first], batch, live=False)
        with pytest.raises(WriteStale):
            await Applier(log, writer).apply([second], batch, live=False)
    finally:
        await writer.close()
    await bench.compare([SEARCH])
