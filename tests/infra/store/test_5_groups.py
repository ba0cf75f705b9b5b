"""Promise 5: commands that arrive while a commit is under way share the next; parts are locked in order; a bad command
fails alone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

import psycopg
import pytest

from infra.faults import Fault
from infra.store import GENESIS, Append, Appended, Conflict, Duplicate, EventStore, StreamHead
from infra.store.group import Item
from infra.store.queue import PARALLEL_FROM
from tests.conftest import Database
from tests.infra.store.streams import command, event, head_of, in_part, killing, new_stream, until, write

WHILE_S = 1.5


@pytest.fixture
async def one_lane(database: Database) -> AsyncIterator[EventStore]:
    """A store whose commands all go one way, so that they are sure to meet."""
    async with await EventStore.open(database.app_url, lanes=1) as opened:
        yield opened


def transactions(database: Database) -> int:
    """In how many transactions the events were stored."""
    with psycopg.connect(database.owner_url) as owner:
        row = owner.execute("select count(distinct xmin::text) from store.event").fetchone()
        assert row is not None
        return int(row[0])


async def test_5_what_arrives_during_a_commit_is_the_next_group(database: Database, one_lane: EventStore) -> None:
    busy = new_stream()
    with psycopg.connect(database.owner_url) as owner:
        # Its commit takes as long as somebody sits on its part.
        owner.execute("select from store.part_head where part = %s for update", (one_lane.part_of(busy.stream),))
        first = asyncio.create_task(one_lane.append(command((busy, [event()]))))
        await until(lambda: one_lane.committing == 1)
        others = [asyncio.create_task(one_lane.append(command((new_stream(), [event()])))) for _ in range(100)]
        await until(lambda: one_lane.waiting == 100)
    assert all(isinstance(each, Appended) for each in await asyncio.gather(first, *others))
    assert transactions(database) == 2


async def test_5_commands_of_one_stream_go_into_one_group_each(database: Database, one_lane: EventStore) -> None:
    """They are committed in the order in which they came, even when all are waiting at once."""
    heads = [new_stream()]
    commands = []
    for number in range(5):
        given = command((heads[-1], [event(str(number))]))
        commands.append(given)
        hashes = _hashes(one_lane, given)
        heads.append(StreamHead(heads[0].stream, number + 1, hashes[-1]))
    both = new_stream()
    verdicts = await asyncio.gather(
        *[one_lane.append(given) for given in commands],
        one_lane.append(command((both, [event()]), (heads[-1], [event()]))),
        one_lane.append(command((StreamHead(both.stream, 1, b"?" * 32), [event()]))),
        return_exceptions=True,
    )
    assert all(isinstance(each, Appended) for each in verdicts[:6])
    assert isinstance(verdicts[6], Fault), "it came after the one that made its stream, and its hash is wrong"
    assert transactions(database) == 6


def _hashes(store: EventStore, given: Append) -> list[bytes]:
    return Item(given, store.parts, asyncio.get_running_loop().create_future(), 0.0).hashes


async def test_5_a_bad_command_fails_alone(database: Database, one_lane: EventStore) -> None:
    """All kinds of bad ones in one group with good ones."""
    stored = command((new_stream(), [event()]))
    head = head_of(await one_lane.append(stored))
    moved = await write(one_lane, new_stream(), 2)
    good = [command((new_stream(), [event()] * 2)) for _ in range(20)]
    bad = {
        "duplicate": stored,
        "conflict": command((StreamHead(moved.stream, 1, moved.hash), [event()])),
        "broken": command((StreamHead(moved.stream, 2, b"?" * 32), [event()])),
        "half conflict": command((new_stream(), [event()]), (StreamHead(head.stream, 9, head.hash), [event()])),
        "not text": command((new_stream(), [event(type_="nul\0byte")])),
        "not a name": command((StreamHead("nul\0byte", 0, GENESIS), [event()])),
    }
    # Two commands of one stream never share a group, so "conflict" and "broken" meet different neighbours.
    everything = [*good[:10], *bad.values(), *good[10:]]
    verdicts = await asyncio.gather(*[one_lane.append(each) for each in everything], return_exceptions=True)
    answers = dict(zip([each.command_id for each in everything], verdicts, strict=True))
    assert all(isinstance(answers[each.command_id], Appended) for each in good)
    told = {name: answers[each.command_id] for name, each in bad.items()}
    assert isinstance(told["duplicate"], Duplicate)
    assert told["conflict"] == Conflict(moved.stream, 1, 2)
    assert told["half conflict"] == Conflict(head.stream, 9, 1)
    codes = {name: fault.code for name, fault in told.items() if isinstance(fault, Fault)}
    assert codes == {"broken": "store_broken", "not text": "store_rejected", "not a name": "store_rejected"}
    assert len(await one_lane.read_parts(dict.fromkeys(range(256), 0), 1000)) == 1 + 2 + 40
    assert (await one_lane.verify()).is_intact


async def test_5_a_caller_that_goes_away_disturbs_nobody(one_lane: EventStore) -> None:
    gone, stays = new_stream(), new_stream()
    leaving = asyncio.create_task(one_lane.append(command((gone, [event()]))))
    staying = asyncio.create_task(one_lane.append(command((stays, [event()]))))
    await asyncio.sleep(0)
    leaving.cancel()
    assert isinstance(await staying, Appended)
    assert await one_lane.head(gone.stream) is not None


async def test_5_who_listens_to_a_command_is_told_before_any_of_its_group_has_a_verdict(one_lane: EventStore) -> None:
    """Of each that is stored and of no other, also where who asked has gone; a listener that fails harms nobody."""
    stored = command((new_stream(), [event()]))
    await one_lane.append(stored)
    told: list[str] = []

    def failing(appended: Appended) -> None:
        raise ValueError

    async def append(name: str, given: Append) -> None:
        verdict = await one_lane.append(given, lambda appended: told.append(f"{name} {appended.heads[0].seq}"))
        told.append(f"{name} {type(verdict).__name__}")

    appends = {
        "one": command((new_stream(), [event()])),
        "two": command((new_stream(), [event()] * 2)),
        "again": stored,
        "leaves": command((new_stream(), [event()])),
    }
    tasks = {name: asyncio.create_task(append(name, given)) for name, given in appends.items()}
    harmless = asyncio.create_task(one_lane.append(command((new_stream(), [event()])), failing))
    await until(lambda: one_lane.committing == 5)
    tasks["leaves"].cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert told[:3] == ["one 1", "two 2", "leaves 1"]
    assert sorted(told[3:]) == ["again Duplicate", "one Appended", "two Appended"]
    assert isinstance(await harmless, Appended)


async def test_5_parts_are_locked_in_order(database: Database, store: EventStore, other: EventStore) -> None:
    """Two processes, two lanes each, commands over three parts in any order, back-ends killed: no deadlock ever."""

    async def play(each: EventStore, seed: int) -> int:
        chance = random.Random(seed)
        heads = [in_part(each, part) for part in range(4)]
        done = 0
        stop = time.monotonic() + WHILE_S
        while time.monotonic() < stop:
            order = chance.sample(range(4), 3)
            verdict = await each.append(command(*[(heads[part], [event()]) for part in order]))
            assert isinstance(verdict, Appended)
            for part, head in zip(order, verdict.heads, strict=True):
                heads[part] = head
            done += 1
        return done

    async with killing(database.owner_url):
        done = await asyncio.gather(*[play(each, seed) for seed in range(8) for each in (store, other)])
    assert sum(done) > 100
    with psycopg.connect(database.owner_url) as owner:
        row = owner.execute("select deadlocks from pg_stat_database where datname = current_database()").fetchone()
    assert row == (0,)
    assert (await store.verify()).is_intact


async def test_5_a_large_group_goes_through(one_lane: EventStore) -> None:
    """More than a socket takes at once, and more events than a group may have commands."""
    big = [command((new_stream(), [event("x" * 100_000)])) for _ in range(30)]
    long = command((new_stream(), [event(str(number)) for number in range(1_000)]))
    verdicts = await asyncio.gather(*[one_lane.append(each) for each in (*big, long)])
    assert all(isinstance(each, Appended) for each in verdicts)
    assert (await one_lane.verify()).events == 1_030


async def test_5_a_part_that_somebody_holds_is_a_fault_for_its_commands_alone(
    database: Database, one_lane: EventStore
) -> None:
    """Not for those of its group, nor for those of its process; and it passes."""
    held, *free = [in_part(one_lane, part) for part in range(20, 30)]
    held = await write(one_lane, held, 1)
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("select from store.part_head where part = 20 for update")
        started = time.monotonic()
        stuck = asyncio.create_task(one_lane.append(command((held, [event()]))))
        others = [asyncio.create_task(one_lane.append(command((head, [event()])))) for head in free]
        assert all(isinstance(each, Appended) for each in await asyncio.gather(*others))
        assert not stuck.done()
        with pytest.raises(Fault, match="store_unavailable"):
            await stuck
        assert time.monotonic() - started < 10
    assert (await write(one_lane, held, 1)).seq == 2


async def test_5_a_held_part_leaves_another_lane_to_the_others(database: Database, store: EventStore) -> None:
    """While one lane waits for it, as many as make a group go by the other."""
    held = in_part(store, 20)
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("select from store.part_head where part = 20 for update")
        stuck = asyncio.create_task(store.append(command((held, [event()]))))
        await until(lambda: store.committing == 1)
        free = [in_part(store, part) for part in range(30, 30 + PARALLEL_FROM)]
        assert all(await asyncio.gather(*[store.append(command((head, [event()]))) for head in free]))
        assert not stuck.done()
        owner.rollback()
        assert isinstance(await stuck, Appended)
