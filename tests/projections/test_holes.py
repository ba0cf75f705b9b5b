"""A hole in the positions of a part stops the part, one in a stream the stream: an alarm each, the others go on."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json

from projections.engine import log, projector
from tests.projections.conftest import Bench, eventually
from tests.projections.counting import counting
from tests.projections.world import evening, halves, table_id

COUNTING = counting()
STREAM = f"table-{table_id(1)}"
TORN = 20


async def test_a_hole_in_the_past_stops_its_part_until_it_is_mended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by a projection that begins. What is before the hole is applied."""
    monkeypatch.setattr(log, "AGAIN_S", 0.2)
    part = bench.world.store.part_of(STREAM)
    first, second = halves(evening(1, close=False))
    await bench.world.append(first, evening(2))
    torn = _tear(bench, part)
    async with bench.projecting((COUNTING,)):
        await eventually(lambda: _stopped_at(bench, part, TORN - 1))
        await bench.world.append(evening(3), second)
        await eventually(lambda: _behind_by(bench, part, TORN - 1))
        _mend(bench, torn)
        await bench.caught_up((COUNTING,))
        await eventually(lambda: _none_stopped(bench))
    await bench.compare((COUNTING,))


async def test_a_hole_at_the_end_stops_its_part_until_it_is_mended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the tail, as it appears: a position was given out, and there is nothing there."""
    monkeypatch.setattr(log, "AGAIN_S", 0.2)
    part = bench.world.store.part_of(STREAM)
    first, second = halves(evening(1, close=False))
    async with bench.projecting((COUNTING,)):
        await bench.world.append(first)
        await bench.caught_up((COUNTING,))
        head = (await bench.world.store.part_heads())[part]
        _give_out_a_position(bench, part)
        await eventually(lambda: _stopped_at(bench, part, head))
        await bench.world.append(evening(3), second)
        await eventually(lambda: _behind_by(bench, part, head))
        _fill(bench, part, head + 1)
        await bench.caught_up((COUNTING,))
        await eventually(lambda: _none_stopped(bench))
    await bench.compare((COUNTING,))


async def test_a_hole_in_a_stream_parks_it_until_it_is_mended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part's numbers are whole, the stream's are not: met by who reads the log from its start."""
    monkeypatch.setattr(projector, "AGAIN_S", 0.2)
    first, second = halves(evening(1, close=False))
    await bench.world.append(first, evening(2))
    _sql(bench, "update store.event set stream_id = 'torn' where stream_id = %s and seq = 3", STREAM)
    async with bench.projecting((COUNTING,)):
        await eventually(lambda: _waits_at(bench, 3))
        await bench.world.append(second)
        await bench.caught_up((COUNTING,))
        assert await _waits_at(bench, 3)
        _sql(bench, "update store.event set stream_id = %s where stream_id = 'torn'", STREAM)
        await eventually(lambda: _none_waits(bench))
    await bench.compare((COUNTING,))


async def test_a_hole_at_the_end_of_a_stream_parks_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Met by who follows the tail. The other streams of the part go on."""
    monkeypatch.setattr(projector, "AGAIN_S", 0.2)
    await bench.world.append(evening(1, close=False))
    last = bench.world.heads[STREAM][0]
    async with bench.projecting((COUNTING,)):
        await bench.caught_up((COUNTING,))
        part = bench.world.store.part_of(STREAM)
        head = (await bench.world.store.part_heads())[part]
        _give_out_a_position(bench, part)
        _fill(bench, part, head + 1, STREAM, last + 2)
        await eventually(lambda: _waits_at(bench, last + 1))
        await bench.world.append(evening(3))
        await bench.caught_up((COUNTING,))
        _sql(bench, "update store.event set seq = seq - 1 where stream_id = %s and seq > %s", STREAM, last)
        await eventually(lambda: _none_waits(bench))
    await bench.compare((COUNTING,))


def _sql(bench: Bench, query: str, *given: Any) -> None:
    with psycopg.connect(bench.database.owner_url) as connection:
        connection.execute(query.encode(), given)


async def _waits_at(bench: Bench, seq: int) -> bool:
    standing = await bench.standing("counting")
    return standing is not None and [(p.stream, p.seq, p.code) for p in standing.parked] == [
        (STREAM, seq, "stream_hole")
    ]


async def _none_waits(bench: Bench) -> bool:
    standing = await bench.standing("counting")
    return standing is not None and not standing.parked


def _tear(bench: Bench, part: int) -> dict[str, Any]:
    """Take one event away behind the store's back; hand it back."""
    with psycopg.connect(bench.database.owner_url) as connection:
        query = "delete from store.event where part = %s and pos = %s returning to_json(event)"
        found = connection.execute(query, [part, TORN]).fetchone()
    assert found is not None
    torn: dict[str, Any] = found[0]
    return torn


def _mend(bench: Bench, torn: dict[str, Any]) -> None:
    with psycopg.connect(bench.database.owner_url) as connection:
        query = "insert into store.event select * from json_populate_record(null::store.event, %s)"
        connection.execute(query, [Json(torn)])


def _give_out_a_position(bench: Bench, part: int) -> None:
    with psycopg.connect(bench.database.owner_url) as connection:
        connection.execute("update store.part_head set last_pos = last_pos + 1 where part = %s", [part])
    bench.world.events += 1


def _fill(bench: Bench, part: int, pos: int, stream: str = "log", seq: int = 1) -> None:
    """An event at a position; of a stream that no projection follows, where none is named."""
    with psycopg.connect(bench.database.owner_url) as connection:
        query = (
            "insert into store.event (part, pos, stream_id, seq, command_id, idx, type, version, body, meta, hash)"
            " select part, %s, %s, %s, gen_random_uuid(), 0, 'table_resumed', 1, %s, meta, hash"
            " from store.event where part = %s and pos = 1"
        )
        connection.execute(query, [pos, stream, seq, b'{"type":"table_resumed","reason":"filled"}', part])


async def _stopped_at(bench: Bench, part: int, pos: int) -> bool:
    return [(each.part, each.pos) for each in await bench.reader.stopped()] == [(part, pos)]


async def _none_stopped(bench: Bench) -> bool:
    return not await bench.reader.stopped()


async def _behind_by(bench: Bench, part: int, pos: int) -> bool:
    """Every part but this one is at its head, and this one stands before the hole."""
    with psycopg.connect(bench.database.owner_url) as connection:
        behind = connection.execute(
            "select c.part, c.pos from projection.checkpoint c join store.part_head h using (part)"
            " where c.schema_name = 'counting_v1' and c.pos < h.last_pos"
        ).fetchall()
    return behind == [(part, pos)]
