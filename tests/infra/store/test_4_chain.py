"""Promise 4: each event's hash covers it and the one before, so whatever is changed afterwards is found and named."""

from __future__ import annotations

import hashlib

import psycopg
import pytest

from infra.faults import Fault
from infra.store import GENESIS, Broken, EventStore, StreamHead
from infra.store.chain import part_of
from tests.conftest import Database
from tests.infra.store.streams import command, event, head_of, in_part, killing, new_stream, write


async def test_4_the_hash_is_the_one_that_the_design_spells_out(store: EventStore) -> None:
    head = new_stream()
    given = command((head, [event("ö", "table_opened"), event("{}", "player_sat")]))
    await store.append(given)
    previous = bytes(32)
    for each in await store.read_stream(head.stream):
        stream, type_ = each.stream.encode(), each.type.encode()
        expected = hashlib.sha256(
            b"khrap-event/1\x00"
            + previous
            + len(stream).to_bytes(2, "big")
            + stream
            + each.seq.to_bytes(8, "big")
            + len(type_).to_bytes(2, "big")
            + type_
            + each.version.to_bytes(2, "big")
            + given.command_id
            + each.idx.to_bytes(2, "big")
            + len(each.body).to_bytes(4, "big")
            + each.body
            + len(each.meta).to_bytes(4, "big")
            + each.meta
        ).digest()
        assert each.hash == expected
        previous = each.hash


def test_4_a_stream_lives_in_the_part_that_its_name_gives() -> None:
    assert part_of("table-0190a0b0-0000-7000-8000-000000000000", 256) == 73
    assert part_of("audit-access", 256) == int(hashlib.sha256(b"audit-access").hexdigest()[:16], 16) % 256


async def test_4_an_untouched_log_is_intact(database: Database, store: EventStore, other: EventStore) -> None:
    async with killing(database.owner_url):
        for each in (store, other):
            await write(each, new_stream(), 20, events=3)
    seen: list[int] = []
    walked = await store.verify(seen.append)
    assert (walked.events, walked.streams, walked.broken) == (120, 2, ())
    assert sum(seen) == 120


async def test_4_an_empty_log_is_intact(store: EventStore) -> None:
    assert (await store.verify()).is_intact


# Part 7 gets events 1 to 3 of the first stream at positions 1 to 3, and one of a second stream at 4.
TAMPERED = {
    "a byte of a body": (
        "update store.event set body = set_byte(body, 0, 120) where pos = 2",
        7,
        2,
        2,
        "the hash does not fit the event and the one before",
    ),
    "a byte of a meta": (
        "update store.event set meta = set_byte(meta, 0, 120) where pos = 2",
        7,
        2,
        2,
        "the hash does not fit the event and the one before",
    ),
    "a type": (
        "update store.event set type = 'fine_paid' where pos = 1",
        7,
        1,
        1,
        "the hash does not fit the event and the one before",
    ),
    "a version": (
        "update store.event set version = 2 where pos = 3",
        7,
        3,
        3,
        "the hash does not fit the event and the one before",
    ),
    "a command id": (
        "update store.event set command_id = gen_random_uuid() where pos = 3",
        7,
        3,
        3,
        "the hash does not fit the event and the one before",
    ),
    "a hash": (
        "update store.event set hash = sha256(hash) where pos = 1",
        7,
        1,
        1,
        "the hash does not fit the event and the one before",
    ),
    "half a hash": (
        "update store.event set hash = substr(hash, 1, 16) where pos = 2",
        7,
        2,
        2,
        "the hash does not fit the event and the one before",
    ),
    "no hash": (
        "update store.event set hash = '' where pos = 3",
        7,
        3,
        3,
        "the hash does not fit the event and the one before",
    ),
    "a long hash": (
        "update store.event set hash = hash || hash where pos = 3",
        7,
        3,
        3,
        "the hash does not fit the event and the one before",
    ),
    "a column of another type": (
        "alter table store.event alter column version type int",
        7,
        1,
        0,
        "what stands there is no event: the table was altered",
    ),
    "a type longer than any": (
        "update store.event set type = repeat('x', 70000) where pos = 2",
        7,
        2,
        0,
        "what stands there is no event: the table was altered",
    ),
    "an event taken out": ("delete from store.event where pos = 2", 7, 3, 3, "position 2 is missing"),
    "an event taken out and the hole closed": (
        "delete from store.event where pos = 2; update store.event set pos = pos - 1 where pos > 2",
        7,
        2,
        3,
        "event 2 of the stream is missing",
    ),
    "two events swapped": (
        "update store.event set pos = -pos where pos in (2, 3); update store.event set pos = 5 + pos where pos < 0",
        7,
        2,
        3,
        "event 2 of the stream is missing",
    ),
    "an event moved to another part": (
        "update store.event set part = 8, pos = 1 where pos = 1",
        7,
        2,
        2,
        "position 1 is missing",
    ),
    "an event moved to a part that is none": (
        "update store.event set part = 300, pos = 1 where pos = 4",
        7,
        0,
        0,
        "the part's counter is 4, its last event 3",
    ),
    "a stream renamed": (
        "update store.event set stream_id = 'table-elsewhere' where pos = 4",
        7,
        4,
        1,
        f"the stream belongs to part {part_of('table-elsewhere', 256)}",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_4_a_change_is_found_and_named(database: Database, store: EventStore, name: str) -> None:
    statement, part, pos, seq, what = TAMPERED[name]
    first = await write(store, in_part(store, 7), 3)
    second = await write(store, in_part(store, 7), 1)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(statement.encode())
    broken = (await store.verify()).broken[0]
    assert (broken.part, broken.pos, broken.seq, broken.what) == (part, pos, seq, what)
    if broken.seq and name != "a stream renamed":
        assert str(broken) == f"part 7 position {pos}, {first.stream} event {seq}: {what}"
        assert (await store.verify_stream(first.stream) is None) == (name == "two events swapped")
        assert await store.verify_stream(second.stream) is None


async def test_4_an_end_cut_off_shows_in_the_counters(database: Database, store: EventStore) -> None:
    head = await write(store, in_part(store, 7), 3)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("delete from store.event where pos = 3")
        hash_2 = (await store.read_stream(head.stream))[-1].hash.hex()
        (broken,) = (await store.verify()).broken
        assert broken == Broken(7, 0, "", 0, "the part's counter is 3, its last event 2")
        assert await store.verify_stream(head.stream) == Broken(
            7,
            0,
            head.stream,
            2,
            f"the stream's head says 3 with hash {head.hash.hex()}, its last event is 2 with hash {hash_2}",
        )
        owner.execute("update store.part_head set last_pos = 2 where part = 7")
        (broken,) = (await store.verify()).broken
        assert (broken.stream, broken.seq) == (head.stream, 2)
        assert broken.what.startswith(f"the stream's head says 3 with hash {head.hash.hex()}")


async def test_4_a_head_of_no_stream_is_named(database: Database, store: EventStore) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("insert into store.stream_head values (1, 'table-ghost', 2, '\\x00')")
    (broken,) = (await store.verify()).broken
    assert broken == Broken(1, 0, "table-ghost", 0, "the stream's head says 2 with hash 00, its last event is nothing")


async def test_4_the_first_wrong_thing_of_each_part_is_told(database: Database, store: EventStore) -> None:
    for part in (4, 2):
        await write(store, in_part(store, part), 3)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("update store.event set body = 'x' where pos in (2, 3)")
    assert [(each.part, each.pos) for each in (await store.verify()).broken] == [(2, 2), (4, 2)]


async def test_4_an_append_after_a_hash_that_is_not_there_is_refused(store: EventStore) -> None:
    """A caller whose cached hash is wrong would break the chain: the store looks at it, not only at the number."""
    head = head_of(await store.append(command((new_stream(), [event()]))))
    with pytest.raises(Fault, match="store_broken"):
        await store.append(command((StreamHead(head.stream, head.seq, GENESIS), [event()])))
    assert await store.head(head.stream) == head
