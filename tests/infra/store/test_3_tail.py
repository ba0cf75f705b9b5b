"""Promise 3: a tailing reader misses nothing and never sees a stream out of order."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

import psycopg
import pytest

from infra.faults import Fault
from infra.store import Appended, Conflict, EventStore, StoredEvent, StoreGap
from infra.store.group import Item, parameters
from infra.store.prepared import PreparedStatement
from infra.store.queries import query
from tests.conftest import Database
from tests.infra.store.streams import command, event, head_of, in_part, killing, new_stream, write

WHILE_S = 2.5


class Tail:
    """A reader that begins before the first event, and checks each that it gets against the one before."""

    def __init__(self, store: EventStore, limit: int = 500) -> None:
        self._store = store
        self._limit = limit
        self.vector = dict.fromkeys(range(store.parts), 0)
        self.events: list[StoredEvent] = []
        self._seqs: defaultdict[str, int] = defaultdict(int)

    async def look(self) -> int:
        """Take what is new; how many events that is."""
        events = await self._store.read_parts(self.vector, self._limit)
        for each in events:
            assert each.pos == self.vector[each.part] + 1, "positions are dense"
            self.vector[each.part] = each.pos
            assert each.seq == self._seqs[each.stream] + 1, "a stream is in order"
            self._seqs[each.stream] = each.seq
        self.events += events
        return len(events)


async def test_3_a_tail_misses_nothing_while_writers_race_and_back_ends_die(
    database: Database, store: EventStore, other: EventStore
) -> None:
    """Two processes append to the same few parts, and to streams that they share; two tails look on."""
    stop = time.monotonic() + WHILE_S
    acknowledged: set[bytes] = set()
    shared = [in_part(store, part) for part in (3, 3, 4)]

    async def alone(each: EventStore, part: int) -> None:
        """A stream of its own, and a second one now and then: one command over two parts."""
        head, second = in_part(store, part), in_part(store, 7 - part)
        while time.monotonic() < stop:
            given = command((head, [event()]), (second, [event(), event()]))
            verdict = await each.append(given)
            assert isinstance(verdict, Appended)
            acknowledged.add(given.command_id)
            head, second = verdict.heads

    async def crowd(each: EventStore, number: int) -> None:
        """A stream that others append to as well: whoever is late looks where it stands."""
        head = shared[number]
        while time.monotonic() < stop:
            given = command((head, [event()]))
            verdict = await each.append(given)
            if isinstance(verdict, Appended):
                acknowledged.add(given.command_id)
                head = verdict.heads[0]
            else:
                assert isinstance(verdict, Conflict)
                current = await each.head(head.stream)
                assert current is not None
                head = current

    async def follow(tail: Tail) -> None:
        while time.monotonic() < stop:
            if await tail.look() == 0:
                await asyncio.sleep(0.001)

    tails = Tail(store), Tail(other, limit=3)
    async with killing(database.owner_url) as killed:
        writers = [alone(each, part) for each in (store, other) for part in (3, 4)]
        crowds = [crowd(each, number) for each in (store, other) for number in range(len(shared))]
        await asyncio.gather(*writers, *crowds, *[follow(tail) for tail in tails])
        for tail in tails:
            while await tail.look():
                pass
    assert len(killed) >= 10
    for tail in tails:
        assert {each.command_id for each in tail.events} >= acknowledged
        assert tail.vector == await store.part_heads()
    assert tails[0].vector == tails[1].vector
    assert len(acknowledged) > 100
    assert (await store.verify()).is_intact


async def test_3_a_later_commit_waits_for_an_earlier_one_of_its_part(database: Database, store: EventStore) -> None:
    """What an identity column loses: the transaction that had its number first commits last."""
    slow, quick, elsewhere = in_part(store, 5), in_part(store, 5), in_part(store, 6)
    tail = Tail(store)
    item = Item(command((slow, [event()])), store.parts, asyncio.get_running_loop().create_future(), 0.0)
    first = await PreparedStatement.open(database.app_url, query("append"))
    await first.connection.execute("begin")
    assert (await first(parameters([item]), 5.0)).ntuples == 0
    waiting = asyncio.create_task(store.append(command((quick, [event()]))))
    assert isinstance(await store.append(command((elsewhere, [event()]))), Appended)
    assert not waiting.done()
    await tail.look()
    assert [each.stream for each in tail.events] == [elsewhere.stream]
    await first.connection.execute("commit")
    await first.close()
    assert isinstance(await waiting, Appended)
    await tail.look()
    assert [each.stream for each in tail.events if each.part == 5] == [slow.stream, quick.stream]


async def test_3_the_limit_is_shared_among_the_parts_that_have_more(store: EventStore) -> None:
    for part in (1, 2, 3):
        await write(store, in_part(store, part), 1, events=10)
    events = await store.read_parts(dict.fromkeys(range(store.parts), 0), 9)
    assert [(each.part, each.pos) for each in events] == [(part, pos) for part in (1, 2, 3) for pos in (1, 2, 3)]
    assert len(await store.read_parts({1: 0, 2: 9, 3: 10}, 100)) == 11


@pytest.mark.parametrize(("lost", "found"), [(2, 3), (3, None)], ids=["amid", "at the end"])
async def test_3_a_hole_is_an_alarm(database: Database, store: EventStore, lost: int, found: int | None) -> None:
    await write(store, in_part(store, 9), 3)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("delete from store.event where part = 9 and pos = %s", (lost,))
    with pytest.raises(StoreGap) as gap:
        await store.read_parts({9: 0}, 100)
    assert (gap.value.part, gap.value.pos, gap.value.found) == (9, lost - 1, found)
    assert isinstance(gap.value, Fault)


async def test_3_who_tails_is_told_of_each_commit(store: EventStore) -> None:
    told: list[tuple[str, int]] = []
    store.on_append(lambda heads: told.extend((head.stream, head.seq) for head in heads))
    first = await write(store, new_stream(), 2)
    second = head_of(await store.append(command((new_stream(), [event()] * 3))))
    assert told == [(first.stream, 1), (first.stream, 2), (second.stream, 3)]


async def test_3_a_listener_that_fails_does_not_fail_the_append(store: EventStore) -> None:
    def fail(heads: object) -> None:
        raise RuntimeError("a listener's own trouble")

    store.on_append(fail)
    assert (await write(store, new_stream(), 2)).seq == 2


async def test_3_a_read_outlives_its_back_end(database: Database, store: EventStore) -> None:
    head = await write(store, new_stream(), 5)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and application_name = 'khrap'"
        )
    assert len(await store.read_stream(head.stream)) == 5


async def test_3_a_stream_is_read_from_its_last_opening_on(store: EventStore) -> None:
    types = ["table_opened", "player_sat", "hand_started", "card_played", "hand_started", "card_played"]
    head = new_stream()
    await store.append(command((head, [event(type_=each) for each in types])))
    assert [each.seq for each in await store.read_since_last(head.stream, ("hand_started", "table_opened"))] == [5, 6]
    assert [each.seq for each in await store.read_since_last(head.stream, ("table_opened",))] == [1, 2, 3, 4, 5, 6]
    assert [each.seq for each in await store.read_since_last(head.stream, ("hand_voided",))] == [1, 2, 3, 4, 5, 6]
    assert [each.seq for each in await store.read_stream(head.stream, after=2, limit=3)] == [3, 4, 5]
    assert await store.read_since_last(new_stream().stream, ("table_opened",)) == []
