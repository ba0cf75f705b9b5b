"""Rebuilt beside what serves, checked against it, switched to and back. Source: DESIGN "Projections"."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from infra.faults import Fault
from infra.projection_store import Generations, ProjectionReader
from infra.redis import LOBBY as LOBBY_CHANNEL
from projections.engine.applying import Applier
from projections.engine.follower import definition
from projections.engine.rebuilding import Rebuild, Rebuilt
from projections.engine.retiring import drop, roll_back
from projections.engine.types import Change, Insert, Projection, Recorded
from projections.ledger import LEDGER, trial_balance
from projections.lobby import LOBBY, open_tables
from tests.projections.conftest import WITHIN_S, Bench, eventually
from tests.projections.counting import counting
from tests.projections.test_live import heard, live
from tests.projections.world import commands, evening, table_id

KEPT = (LEDGER, LOBBY)


def rebuild(bench: Bench, projection: Projection[Any], **options: Any) -> Rebuild:
    """A rebuild of a projection in a test's database."""
    decode = bench.world.codec.decode_public
    return Rebuild(bench.database.app_url, bench.world.store, decode, projection, **options)


def wrong_step(state: Any, recorded: Recorded) -> tuple[Any, Sequence[Change]]:
    """The ledger's step, but that it names another clause for what the house takes."""
    after, changes = LEDGER.step(state, recorded)
    return after, [
        Insert(each.table, {**each.row, "clause": "T9"})
        if isinstance(each, Insert) and each.row["clause"] == "T10"
        else each
        for each in changes
    ]


WRONG: Projection[Any] = replace(LEDGER, step=wrong_step)


@asynccontextmanager
async def reading(bench: Bench) -> AsyncIterator[list[BaseException]]:
    """Readers that look all the time, each with a pool of its own as in another process; what they met with."""
    met: list[BaseException] = []

    async def look() -> None:
        async with ProjectionReader(bench.database.app_url) as reader:
            while True:
                try:
                    assert (await trial_balance(reader)).zero
                    assert (await open_tables(reader, limit=5)).items
                except (Fault, AssertionError, psycopg.Error) as error:
                    met.append(error)
                await asyncio.sleep(0.003)

    lookers = [asyncio.create_task(look()) for _ in range(3)]
    try:
        yield met
    finally:
        for each in lookers:
            each.cancel()
        await asyncio.gather(*lookers, return_exceptions=True)


async def serving(bench: Bench, name: str) -> str:
    """The schema that serves."""
    (schema,) = [each.schema for each in await bench.reader.standings() if each.name == name and each.serving]
    return schema


async def all_there(bench: Bench) -> bool:
    """Whether all generations have passed the whole log."""
    return all(each.position == each.head == bench.world.events for each in await bench.reader.standings())


async def test_rebuilt_while_events_come_and_readers_read(bench: Bench) -> None:
    """All generations end alike, nobody met an error, and what was dropped is gone."""
    await bench.world.append(evening(1, close=False), evening(2), evening(3))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        async with reading(bench) as met:
            more = asyncio.create_task(_append(bench, range(10, 20)))
            done = [await rebuild(bench, projection).run() for projection in KEPT]
            done += [await rebuild(bench, projection).run() for projection in KEPT]
            await drop(bench.database.app_url, "lobby")
            await more
            await eventually(lambda: all_there(bench))
    assert met == []
    assert [(each.schema, each.switched, each.resumed) for each in done] == [
        ("ledger_v1_g2", True, False),
        ("lobby_v1_g2", True, False),
        ("ledger_v1_g3", True, False),
        ("lobby_v1_g3", True, False),
    ]
    assert all(each.comparison is not None and each.comparison.alike and not each.broken for each in done)
    schemas = {each.schema for each in await bench.reader.standings()}
    assert schemas == {"ledger_v1", "ledger_v1_g2", "ledger_v1_g3", "lobby_v1_g3"}
    for schema in ("ledger_v1", "ledger_v1_g2", "ledger_v1_g3"):
        await bench.compare((LEDGER,), {"ledger": schema})
    await bench.compare((LOBBY,), {"lobby": "lobby_v1_g3"})


async def _append(bench: Bench, seeds: Sequence[int]) -> None:
    for seed in seeds:
        await bench.world.append(evening(seed, hands=2))


async def test_filled_by_several_processes(bench: Bench) -> None:
    await bench.world.append(*(evening(seed, hands=3) for seed in range(1, 6)))
    async with bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        told: list[str] = []
        done = await rebuild(bench, LEDGER, processes=2, on_progress=lambda each: told.append(each.phase)).run()
    assert done.switched
    assert done.comparison is not None
    assert done.comparison.rows > 50
    assert list(dict.fromkeys(told)) == ["filling", "indexing", "catching up", "checking", "handing over", "done"]
    await bench.compare((LEDGER,), {"ledger": done.schema})


async def test_what_an_older_program_parked_is_taken_up_by_the_one_that_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upgrade is there, what serves has taken the stream up, and the rebuild was refused for what it had parked."""

    async def killed(self: Generations, schema: str) -> None:
        raise asyncio.CancelledError

    stream = f"table-{table_id(1)}"
    await bench.world.append(evening(1), evening(2))
    old, new = counting(refuse=lambda recorded: recorded.stream == stream and recorded.seq == 9), counting()
    async with bench.projecting((new,)):
        await bench.caught_up((new,))
        monkeypatch.setattr(Generations, "finish", killed)
        with pytest.raises(asyncio.CancelledError):
            await rebuild(bench, old).run()
        monkeypatch.undo()
        again = await rebuild(bench, new).run()
        assert (again.resumed, again.switched) == (True, True)
    await bench.compare((new,), {"counting": again.schema})


CHILD = """
import asyncio
from infra.store import EventStore
from projections.engine import building
from projections.engine.rebuilding import Rebuild
from projections.ledger import LEDGER
from tests.projections.world import codec

building.BATCH = 40

async def main():
    async with await EventStore.open({url!r}) as store:
        await Rebuild({url!r}, store, codec().decode_public, LEDGER).run()

asyncio.run(main())
"""


async def test_killed_and_gone_on_with(bench: Bench) -> None:
    """kill -9 in the middle: what was committed is not done again, and what was not is."""
    await bench.world.append(*(evening(seed, hands=6) for seed in range(1, 9)))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD.format(url=bench.database.app_url))

    async def begun() -> bool:
        return any(each.state == "building" and each.position > 200 for each in await bench.reader.standings())

    await eventually(begun)
    child.send_signal(signal.SIGKILL)
    await child.wait()
    (killed,) = [each for each in await bench.reader.standings() if each.state == "building"]
    assert 200 < killed.position < bench.world.events
    told: list[int] = []
    done = await rebuild(bench, LEDGER, on_progress=lambda each: told.append(each.done)).run()
    assert (done.resumed, done.switched, done.schema) == (True, True, killed.schema)
    assert min(told) >= killed.position
    await bench.compare((LEDGER,), {"ledger": done.schema})


async def test_a_wrong_step_is_caught_and_not_switched_to(bench: Bench) -> None:
    await bench.world.append(evening(1), evening(2, game="frap"))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        refused = await rebuild(bench, WRONG).run()
        assert not refused.switched
        assert refused.comparison is not None
        seen = {(each.table, each.column, each.ours, each.other) for each in refused.comparison.differences}
        assert seen == {("entry", "clause", "T9", "T10")}
        assert await serving(bench, "ledger") == "ledger_v1"
        (standing,) = [each for each in await bench.reader.standings() if each.refused]
        assert standing.refused is not None
        assert standing.refused.startswith("rows differ from those that serve: entry ")
        # The right one begins anew: what the wrong step made is not gone on with.
        done = await rebuild(bench, LEDGER).run()
        assert (done.switched, done.resumed) == (True, False)
    await bench.compare((LEDGER,), {"ledger": done.schema})


async def test_a_release_says_which_rows_it_changes(bench: Bench) -> None:
    """A new version is switched to if all else is alike; old and new run together, old readers stay with the old."""
    meant = replace(WRONG, version=2, changes=("entry.clause",))
    both = (LEDGER, meant)
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    async with (
        ProjectionReader(bench.database.app_url, versions={"ledger": {1}}) as old,
        ProjectionReader(bench.database.app_url, versions={"ledger": {2}}) as new,
        bench.projecting(both),
    ):
        with pytest.raises(Fault, match="version 1 serves, which this program cannot read"):
            await _clauses(new)
        unsaid = await rebuild(bench, replace(meant, changes=())).run()
        assert not unsaid.switched
        done = await rebuild(bench, meant).run()
        assert (done.switched, done.schema) == (True, "ledger_v2")
        await bench.world.append(evening(3))
        await eventually(lambda: all_there(bench))
        assert "T10" in await _clauses(old)
        assert "T10" not in await _clauses(new)
    await bench.compare((LEDGER,))
    await bench.compare((meant,), {"ledger": "ledger_v2"})


async def _clauses(reader: ProjectionReader) -> set[str]:
    found = await reader.rows("ledger", "select distinct clause from {schema}.entry", {}, dict[str, str])
    return {each["clause"] for each in found}


async def test_a_version_that_nobody_keeps_is_not_switched_to(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rolling deploy that has not come far enough: the processes that run do not have the code."""
    monkeypatch.setattr("projections.engine.rebuilding.KEPT_WITHIN_S", 1.0)
    newer = replace(LEDGER, version=2)
    await bench.world.append(evening(1))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        with pytest.raises(Fault, match="projection_not_kept"):
            await rebuild(bench, newer).run()
        assert await serving(bench, "ledger") == "ledger_v1"
    async with bench.projecting((LEDGER, newer)):
        await bench.world.append(evening(2))
        done = await rebuild(bench, newer).run()
    assert (done.switched, done.resumed, done.schema) == (True, True, "ledger_v2")


async def test_corrupt_rows_are_named_and_replaced(bench: Bench) -> None:
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        assert _compared(await rebuild(bench, LEDGER).verify()) == []
        with psycopg.connect(bench.database.owner_url) as connection:
            changed = connection.execute(
                "update ledger_v1.entry set amount = amount + 1 where (part, pos, n) ="
                " (select part, pos, n from ledger_v1.entry limit 1) returning part, pos, n, amount"
            ).fetchone()
            gone = connection.execute(
                "delete from ledger_v1.balance where (account, part) ="
                " (select account, part from ledger_v1.balance where balance > 0 limit 1)"
                " returning account, currency, part"
            ).fetchone()
        assert changed is not None
        assert gone is not None
        part, pos, n, amount = changed
        wrong = [
            ("balance", ", ".join(map(str, gone)), None, "there", None),
            ("entry", f"{part}, {pos}, {n}", "amount", str(amount - 1), str(amount)),
        ]
        assert _compared(await rebuild(bench, LEDGER).verify()) == wrong
        assert [each.schema for each in await bench.reader.standings()] == ["ledger_v1"]
        refused = await rebuild(bench, LEDGER).run()
        assert (refused.switched, _compared(refused)) == (False, wrong)
        accepted = await rebuild(bench, LEDGER).run(accept=True)
        assert (accepted.switched, accepted.resumed) == (True, True)
        assert _compared(await rebuild(bench, LEDGER).verify()) == []


def _compared(found: Rebuilt) -> list[tuple[str, str, str | None, str | None, str | None]]:
    assert found.comparison is not None
    return [(d.table, d.key, d.column, d.ours, d.other) for d in found.comparison.differences]


async def test_broken_laws_keep_a_first_build_from_serving(bench: Bench) -> None:
    """Where nothing serves there is nothing to compare with, but the laws hold or it does not serve."""

    def generous(state: Any, recorded: Recorded) -> tuple[Any, Sequence[Change]]:
        after, changes = LEDGER.step(state, recorded)
        return after, [each for each in changes if not (isinstance(each, Insert) and each.row["n"] == 1)]

    await bench.world.append(evening(1))
    refused = await rebuild(bench, replace(LEDGER, step=generous)).run()
    assert not refused.switched
    assert refused.broken
    assert refused.broken[0].startswith("a balance is the sum of its entries: ")
    assert (await rebuild(bench, LEDGER).run()).switched


async def test_back_to_the_one_before_and_its_end(bench: Bench) -> None:
    url = bench.database.app_url
    await bench.world.append(evening(1))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        with pytest.raises(Fault, match="nothing served before ledger_v1"):
            await roll_back(url, "ledger")
        with pytest.raises(Fault, match="nothing to drop"):
            await drop(url, "ledger")
        await rebuild(bench, LEDGER).run()
        await bench.world.append(evening(2))
        await eventually(lambda: all_there(bench))
        assert await roll_back(url, "ledger") == ("ledger_v1_g2", "ledger_v1")
        assert await serving(bench, "ledger") == "ledger_v1"
        assert await roll_back(url, "ledger") == ("ledger_v1", "ledger_v1_g2")
        await bench.world.append(evening(3))
        assert await drop(url, "ledger") == ["ledger_v1"]
        await eventually(lambda: all_there(bench))
    await bench.compare((LEDGER,), {"ledger": "ledger_v1_g2"})
    with psycopg.connect(bench.database.owner_url) as connection:
        found = connection.execute("select nspname from pg_namespace where nspname like 'ledger%'").fetchall()
    assert found == [("ledger_v1_g2",)]
    with pytest.raises(Fault, match="nothing served before ledger_v1_g2"):
        await roll_back(url, "ledger")


async def test_no_way_back_to_one_that_stands_still(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has its code any more: its readers would go back in time."""
    monkeypatch.setattr("projections.engine.retiring.CAUGHT_UP_WITHIN_S", 0.5)
    newer = replace(LEDGER, version=2)
    await bench.world.append(evening(1))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    async with bench.projecting((LEDGER, newer)):
        await rebuild(bench, newer).run()
    async with bench.projecting((newer,)):
        await bench.world.append(evening(2))
        with pytest.raises(Fault, match="ledger_v1 is behind ledger_v2, and is kept up by no projector"):
            await roll_back(bench.database.app_url, "ledger")


async def test_two_rebuilds_at_a_time_are_refused(bench: Bench) -> None:
    await bench.world.append(*(evening(seed, hands=6) for seed in range(1, 5)))
    first = asyncio.create_task(rebuild(bench, counting()).run())
    second = asyncio.create_task(rebuild(bench, counting()).run())
    done = await asyncio.gather(first, second, return_exceptions=True)
    kinds = sorted(type(each).__name__ for each in done)
    # The second meets the first at work, waits until that is over, or comes when it is and builds another.
    assert kinds in (["Fault", "Rebuilt"], ["Rebuilt", "Rebuilt"])
    codes = {each.code for each in done if isinstance(each, Fault)}
    assert codes <= {"rebuild_running", "rebuild_overtaken"}


async def test_who_stood_still_while_another_went_on_with_it_changes_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built, and then stopped; another switches to it and finds it wanting. The first one once switched to it again."""
    url = bench.database.app_url
    await bench.world.append(evening(1))
    say, stood_still = Rebuild._say, list[str]()

    async def stand_still(self: Rebuild, own: Any, serving: Any, phase: Any, *rest: Any) -> int:
        if phase == "handing over" and not stood_still:
            stood_still.append(own.schema)
            assert (await rebuild(bench, LEDGER).run()).schema == own.schema
            assert await roll_back(url, "ledger") == (own.schema, serving.schema)
        return await say(self, own, serving, phase, *rest)

    monkeypatch.setattr(Rebuild, "_say", stand_still)
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        with pytest.raises(Fault, match="somebody else went on with ledger_v1_g2") as raised:
            await rebuild(bench, LEDGER).run()
        assert raised.value.code == "rebuild_overtaken"
        assert await serving(bench, "ledger") == "ledger_v1"


@pytest.mark.parametrize(
    "deed", ["update projection.checkpoint set pos = pos + 1", "delete from projection.checkpoint"]
)
async def test_what_another_has_passed_or_dropped_ends_the_rebuild_in_a_word(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """It ended in a traceback."""
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        apply = Applier.apply

        async def overtaken(self: Applier, followers: Any, batch: Any, live: bool) -> None:
            if followers[0].schema == "ledger_v1_g2":
                with psycopg.connect(bench.database.owner_url) as connection:
                    connection.execute(f"{deed} where schema_name = 'ledger_v1_g2'".encode())
            await apply(self, followers, batch, live)

        monkeypatch.setattr(Applier, "apply", overtaken)
        with pytest.raises(Fault, match="rebuild_overtaken"):
            await rebuild(bench, LEDGER).run()


async def test_a_verification_that_stood_still_drops_nothing_that_served_meanwhile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease ran out; a rebuild went on with what it had built, and switched to it: it is the way back now."""
    url = bench.database.app_url
    await bench.world.append(evening(1))
    say, stood_still = Rebuild._say, list[str]()

    async def stand_still(self: Rebuild, own: Any, serving: Any, phase: Any, *rest: Any) -> int:
        if phase == "checking" and not stood_still:
            stood_still.append(own.schema)
            with psycopg.connect(bench.database.owner_url) as connection:
                connection.execute("delete from lease.held where name = %s", [own.schema])
                connection.execute("delete from lease.candidate where name = %s", [own.schema])
            assert (await rebuild(bench, LEDGER).run()).schema == own.schema
            assert await roll_back(url, "ledger") == (own.schema, serving.schema)
        return await say(self, own, serving, phase, *rest)

    monkeypatch.setattr(Rebuild, "_say", stand_still)
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        with pytest.raises(Fault, match="rebuild_overtaken"):
            await rebuild(bench, LEDGER).verify()
        assert await roll_back(url, "ledger") == ("ledger_v1", "ledger_v1_g2")


async def test_dropped_before_it_is_begun_with(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of ops at a time: one drops what the other is just beginning to build."""
    await bench.world.append(evening(1))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
        begin = Rebuild._begin

        async def begin_and_lose(self: Rebuild, *given: Any) -> Any:
            begun = await begin(self, *given)
            assert await drop(bench.database.app_url, "ledger") == ["ledger_v1_g2"]
            return begun

        monkeypatch.setattr(Rebuild, "_begin", begin_and_lose)
        with pytest.raises(Fault, match="rebuild_overtaken"):
            await rebuild(bench, LEDGER).run()
        monkeypatch.undo()
        assert (await rebuild(bench, LEDGER).run()).switched


async def test_what_is_wrong_in_a_process_of_the_rebuild_is_told(bench: Bench) -> None:
    """All that went wrong there was once told as `a process of the rebuild was killed`."""
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    with psycopg.connect(bench.database.owner_url) as connection:
        connection.execute("set session_replication_role = replica")
        gone = connection.execute("delete from store.event where pos = 3 returning part").fetchall()
    assert gone
    with pytest.raises(Fault, match="after position 2 comes position 4") as raised:
        await rebuild(bench, LEDGER, processes=2).run()
    assert raised.value.code == "store_gap"


async def test_a_rebuild_with_a_stopped_process_still_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is stopped heeds no SIGTERM: Ctrl-C waited for it for ever."""
    stopped: list[int] = []

    def stop_one(self: ProcessPoolExecutor, fn: Any, *given: Any) -> Any:
        submitted = submit(self, fn, *given)
        if not stopped:
            stopped.extend(self._processes)
            os.kill(stopped[0], signal.SIGSTOP)
        return submitted

    submit = ProcessPoolExecutor.submit
    monkeypatch.setattr(ProcessPoolExecutor, "submit", stop_one)
    await bench.world.append(evening(1), evening(2))
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    running = asyncio.create_task(rebuild(bench, LEDGER, processes=2).run())

    async def one_is() -> bool:
        return bool(stopped)

    await eventually(one_is)
    # By a thread: this one waits for the process with all that runs on it.
    rescue = threading.Timer(WITHIN_S, os.kill, (stopped[0], signal.SIGKILL))
    rescue.start()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()
    assert not rescue.finished.is_set()
    rescue.cancel()


async def test_lobby_messages_are_not_repeated(bench: Bench) -> None:
    """Nor by two generations that follow, nor are any lost in the switch."""
    await bench.world.append(evening(1), evening(2))
    async with heard(bench.redis_url, LOBBY_CHANNEL) as messages, bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        await live(bench, messages)
        await asyncio.sleep(0.2)
        messages.clear()
        quiet = len(messages)
        done = await rebuild(bench, LOBBY).run()
        await eventually(lambda: all_there(bench))
        assert (done.switched, len(messages)) == (True, quiet)
        entries = evening(3, hands=2)
        for entry in commands(entries):
            await bench.world.command(entry)
            await bench.caught_up((LEDGER,))
        await eventually(lambda: all_there(bench))
        await asyncio.sleep(0.3)
        bodies = [each.data for each in messages]
    assert bodies
    assert len(bodies) == len(set(bodies))


async def test_one_that_was_built_and_not_switched_to_is_silent(bench: Bench) -> None:
    """Between its hand-over and the switch a projector took it for serving, and told the lobby each row once more."""
    await bench.world.append(evening(1), evening(2))
    async with heard(bench.redis_url, LOBBY_CHANNEL) as messages, bench.projecting(KEPT):
        await bench.caught_up(KEPT)
        await live(bench, messages)
        async with Generations.open(bench.database.app_url) as generations:
            heads = await bench.world.store.part_heads()
            built, _ = await generations.begin(definition(LOBBY), sorted(heads))
            await generations.follow(built.schema)

            async def is_kept() -> bool:
                return await generations.kept(built.schema) and await all_there(bench)

            await eventually(is_kept)
        messages.clear()
        await bench.world.append(evening(3, hands=2))
        await eventually(lambda: all_there(bench))
        await live(bench, messages)
        bodies = [each.data for each in messages]
    assert bodies
    assert len(bodies) == len(set(bodies))
