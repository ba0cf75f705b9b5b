"""Promise 1: durable when acknowledged, atomic per command over all its streams, checks the expected version."""

from __future__ import annotations

import asyncio
import time

import psycopg

from infra.store import Appended, Conflict, EventStore, StreamHead
from infra.store.connect import connect
from tests.conftest import Database
from tests.infra.store.streams import command, event, head_of, killing, new_stream, write

WHILE_S = 1.5


async def test_1_appended_events_are_read_back_as_they_were_given(store: EventStore) -> None:
    head = new_stream()
    given = command((head, [event('{"n":1}', "table_opened"), event('{"n":2}', "player_sat")]))
    verdict = await store.append(given)
    events = await store.read_stream(head.stream)
    assert [(each.seq, each.idx, each.type, each.version, each.body) for each in events] == [
        (1, 0, "table_opened", 1, b'{"n":1}'),
        (2, 1, "player_sat", 1, b'{"n":2}'),
    ]
    assert {each.command_id for each in events} == {given.command_id}
    assert {each.part for each in events} == {store.part_of(head.stream)}
    assert verdict == Appended((StreamHead(head.stream, 2, events[1].hash),))
    assert await store.head(head.stream) == head_of(verdict)


async def test_1_a_command_goes_to_all_its_streams_or_to_none(database: Database, store: EventStore) -> None:
    """Commands over three streams, one of which another writer moves now and then, while back-ends are killed."""

    async def transfer(number: int) -> tuple[int, int]:
        streams = [new_stream("account"), new_stream("table"), new_stream("account")]
        stored = conflicts = 0
        stop = time.monotonic() + WHILE_S
        while time.monotonic() < stop:
            verdict = await store.append(command(*[(head, [event(), event()]) for head in streams]))
            if isinstance(verdict, Appended):
                streams = list(verdict.heads)
                stored += 1
                if stored % 3 == number % 3:
                    # Somebody else appends to the middle one, behind the back of this writer.
                    await write(store, streams[1], 1)
            else:
                assert isinstance(verdict, Conflict)
                assert verdict == Conflict(streams[1].stream, streams[1].seq, streams[1].seq + 1)
                conflicts += 1
                streams[1] = (await store.heads([streams[1].stream]))[streams[1].stream]
        lengths = [len(await store.read_stream(head.stream)) for head in streams]
        assert lengths[0] == lengths[2] == 2 * stored
        assert lengths[1] == 2 * stored + stored // 3 + (stored % 3 >= number % 3 > 0)
        return stored, conflicts

    async with killing(database.owner_url) as killed:
        done = await asyncio.gather(*[transfer(number) for number in range(12)])
    assert len(killed) >= 5
    assert sum(stored for stored, _ in done) > 50
    assert sum(conflicts for _, conflicts in done) > 10
    assert (await store.verify()).is_intact


async def test_1_of_many_writers_at_the_same_version_one_wins(
    database: Database, store: EventStore, other: EventStore
) -> None:
    """Two processes race for each number of a stream; the loser is told where the stream stands."""
    head = new_stream()
    stop = time.monotonic() + WHILE_S
    async with killing(database.owner_url):
        while time.monotonic() < stop:
            verdicts = await asyncio.gather(
                *[each.append(command((head, [event()]))) for each in (store, other, store, other)]
            )
            won = [verdict for verdict in verdicts if isinstance(verdict, Appended)]
            assert len(won) == 1
            assert [verdict for verdict in verdicts if verdict != won[0]] == [
                Conflict(head.stream, head.seq, head.seq + 1)
            ] * 3
            head = head_of(won[0])
    assert head.seq > 5
    assert [each.seq for each in await store.read_stream(head.stream)] == list(range(1, head.seq + 1))


async def test_1_a_new_stream_that_is_there_already_is_a_conflict(store: EventStore) -> None:
    head = new_stream()
    await write(store, head, 2)
    assert await store.append(command((head, [event()]))) == Conflict(head.stream, 0, 2)
    assert await store.append(command((new_stream(), [event()]), (head, [event()]))) == Conflict(head.stream, 0, 2)


async def test_1_commits_are_synchronous_whatever_the_database_says(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(f"alter database {database.name} set synchronous_commit = off")
        owner.execute(f"alter database {database.name} set default_transaction_isolation = serializable")
    async with await connect(database.app_url) as connection:
        for name, expected in (("synchronous_commit", "on"), ("transaction_isolation", "read committed")):
            row = await (await connection.execute(f"show {name}")).fetchone()
            assert row == (expected,)
