"""Parked streams: what cannot be applied waits, the rest goes on, and it is taken up when the cause is gone."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from domain.events import EVENTS, Event, HandStarted
from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.projection_store import Parked, ProjectionWriter, WriteStale
from infra.sealing import Sealer
from infra.store import NewEvent
from projections.engine import applying, memory, projector
from projections.engine.follower import Follower
from projections.engine.log import Log
from tests.projections.conftest import Bench, eventually
from tests.projections.counting import Refuse, counting, rejecting
from tests.projections.world import MASTER, evening, event_of, halves, table_id

STREAM = f"table-{table_id(1)}"


def hand_of_one(recorded: Any) -> bool:
    return isinstance(recorded.event, HandStarted) and recorded.stream == STREAM


async def test_one_stream_waits_and_all_others_go_on(bench: Bench) -> None:
    entries = evening(1)
    await bench.world.append(entries, evening(2), evening(3))
    refusing, plain = counting("refusing", hand_of_one), counting()
    async with bench.projecting((refusing, plain)):
        await bench.caught_up((refusing, plain))
        await bench.world.append(evening(4))
        await bench.caught_up((refusing, plain))
    standing = await bench.standing("refusing")
    assert standing is not None
    (parked,) = standing.parked
    first = event_of(entries, HandStarted)
    assert (parked.stream, parked.seq, parked.code) == (STREAM, first.seq, "refused")
    assert parked.reason == "the test wants it so"
    assert await bench.reader.parked("refusing") == [parked]
    assert await bench.reader.parked("counting") == []
    # Up to the event that could not be applied everything is there, and nothing after it.
    seen = await _seen(bench, "refusing")
    assert seen == list(range(1, first.seq))
    await bench.compare((plain,))


@pytest.mark.parametrize("chunk", [1, 7, 1_000])
async def test_is_taken_up_after_an_upgrade(bench: Bench, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """The next start has the cure; more of the stream has come meanwhile than one transaction takes."""
    monkeypatch.setattr(applying, "AGAIN_EVENTS", chunk)
    await bench.world.append(evening(1), evening(2))
    sick, healthy = counting("one", hand_of_one), counting("one")
    async with bench.projecting((sick,)):
        await bench.caught_up((sick,))
    async with bench.projecting((healthy,)):
        await bench.world.append(evening(3))
        await bench.caught_up((healthy,))
        await eventually(lambda: _none_parked(bench, "one"))
    await bench.compare((healthy,))


async def test_is_taken_up_on_schedule(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cause goes while the projector runs and the stream grows; the second cause parks it again, further on."""
    monkeypatch.setattr(projector, "AGAIN_S", 0.1)
    first, second = halves(evening(1, close=False))
    hands = [e.seq for e in first + second if isinstance(e.event, HandStarted)]
    refused = {hands[0], hands[2]}
    projection = counting("one", lambda recorded: recorded.stream == STREAM and recorded.seq in refused)
    async with bench.projecting((projection,)):
        await bench.world.append(first)
        await eventually(lambda: _parked_at(bench, "one", hands[0]))
        refused.discard(hands[0])
        await bench.world.append(second)
        await eventually(lambda: _parked_at(bench, "one", hands[2]))
        refused.clear()
        await eventually(lambda: _none_parked(bench, "one"))
        await bench.caught_up((projection,))
    await bench.compare((projection,))


async def test_who_was_stopped_while_he_took_a_stream_up_takes_up_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """His lease ran out meanwhile, and another passed more of that stream: these events were once never applied."""
    first, second = halves(evening(1, close=False))
    await bench.world.append(first, evening(2))
    sick, healthy = counting("one", hand_of_one), counting("one")
    async with bench.projecting((sick,)):
        await bench.caught_up((sick,))
    writer = await ProjectionWriter.connect(bench.database.app_url)
    try:
        checkpoint = await writer.checkpoint("one_v1")
        stopped = Follower(healthy, "one_v1", await writer.shapes("one_v1"), checkpoint)
        async with bench.projecting((sick,)):
            await bench.world.append(second)
            await bench.caught_up((sick,))
        applier = applying.Applier(Log(bench.world.store, bench.world.codec.decode_public), writer)
        with pytest.raises(WriteStale):
            await applier.take_up_parked(stopped)
    finally:
        await writer.close()
    async with bench.projecting((healthy,)):
        await eventually(lambda: _none_parked(bench, "one"))
    await bench.compare((healthy,))


async def test_many_that_wait_hold_up_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """All were tried again before anything else was done: with thousands for longer than a lease lasts."""
    monkeypatch.setattr(projector, "AGAIN_FOR_S", 0.0)
    monkeypatch.setattr(projector, "AGAIN_S", 0.5)
    take_up, streams = applying.Applier.take_up, list[str]()
    rounds: list[list[int]] = []
    """For each time that all were tried: how far the projection was at each of them."""

    async def slowly(self: applying.Applier, follower: Follower[Any], parked: Parked) -> None:
        streams.append(parked.stream)
        if parked.stream == streams[0]:
            rounds.append([])
            if len(rounds) == 2:
                await bench.world.append(evening(50))
        rounds[-1].append(sum(follower.vector.values()))
        await asyncio.sleep(0.05)
        await take_up(self, follower, parked)

    monkeypatch.setattr(applying.Applier, "take_up", slowly)
    sick = counting("one", lambda recorded: isinstance(recorded.event, HandStarted))
    await bench.world.append(*(evening(seed, hands=1) for seed in range(1, 11)))
    async with bench.projecting((sick,)):
        await bench.caught_up((sick,))

        async def are_tried() -> bool:
            return len(rounds) > 2

        await eventually(are_tried)
    assert len(rounds[1]) == 10
    assert rounds[1][-1] > rounds[1][0]
    async with bench.projecting((counting("one"),)):
        await eventually(lambda: _none_parked(bench, "one"))
    await bench.compare((counting("one"),))


class ChipsCounted(Event, frozen=True, kw_only=True, tag="chips_counted"):
    """An event of a later release."""

    chips: int


async def test_an_event_of_a_later_release_waits_for_the_upgrade(bench: Bench) -> None:
    """An older process meets a type that it does not know, in a stream that it follows."""
    await bench.world.append(evening(1, close=False), evening(2))
    later = Codec(Sealer(MASTER, SystemEntropy()), events=(*EVENTS, ChipsCounted))
    encoded = later.encode(ChipsCounted(chips=3), STREAM, bench.world.heads[STREAM][0] + 1, _meta())
    await bench.world.new(b"\7" * 16, {STREAM: [encoded]})
    old = counting("one")
    async with bench.projecting((old,)):
        await bench.caught_up((old,))
    standing = await bench.standing("one")
    assert standing is not None
    assert [(p.stream, p.seq, p.code) for p in standing.parked] == [
        (STREAM, bench.world.heads[STREAM][0], "unknown_event")
    ]
    new = counting("one", events=(*EVENTS, ChipsCounted))
    async with bench.projecting((new,), codec=later):
        await bench.caught_up((new,))
        await eventually(lambda: _none_parked(bench, "one"))
    assert await _seen(bench, "one") == list(range(1, bench.world.heads[STREAM][0] + 1))


async def test_a_body_that_cannot_be_read_parks_its_stream(bench: Bench) -> None:
    await bench.world.append(evening(1, close=False), evening(2))
    await bench.world.new(b"\7" * 16, {STREAM: [NewEvent("player_sat", 1, b'{"type":"player_sat"', _meta())]})
    projection = counting("one")
    async with bench.projecting((projection,)):
        await bench.caught_up((projection,))
    (parked,) = await bench.reader.parked("one")
    assert (parked.stream, parked.code) == (STREAM, "undecodable")
    assert parked.reason.startswith(f"event {parked.seq} of {STREAM} cannot be read: ")


async def test_a_row_that_postgres_refuses_parks_its_stream_alone(bench: Bench) -> None:
    """The event is found among thousands of one transaction; other projections and streams do not notice."""
    entries = evening(1)
    await bench.world.append(entries, evening(2), evening(3))
    bad, good = rejecting("bad", hand_of_one), counting()
    async with bench.projecting((bad, good)):
        await bench.caught_up((bad, good))
        await bench.world.append(evening(4))
        await bench.caught_up((bad, good))
    (parked,) = await bench.reader.parked("bad")
    assert (parked.stream, parked.seq, parked.code) == (STREAM, event_of(entries, HandStarted).seq, "rejected")
    assert parked.reason.startswith("22003 ")
    await bench.compare((good,))


async def test_a_row_refused_after_much_else_on_the_connection_parks_its_stream_alone(bench: Bench) -> None:
    """By then the driver has prepared statements of its own, which it lets go of with all others on a rollback."""
    goods = [counting(f"good_{n}") for n in range(7)]
    bad = rejecting("rejecting", lambda recorded: hand_of_one(recorded) or recorded.stream == f"table-{table_id(2)}")
    all_of_them = (*goods, bad)
    refused = evening(1, hands=2)
    async with bench.projecting(all_of_them):
        await bench.world.append(evening(3, hands=1))
        await bench.caught_up(all_of_them)
        await bench.world.append(refused, evening(2, hands=1))
        await bench.caught_up(all_of_them)
        await bench.world.append(evening(4, hands=1))
        await bench.caught_up(all_of_them)
    waiting = {each.stream: each for each in await bench.reader.parked("rejecting")}
    assert {(stream, each.seq, each.code) for stream, each in waiting.items()} == {
        (STREAM, event_of(refused, HandStarted).seq, "rejected"),
        (f"table-{table_id(2)}", 1, "rejected"),
    }
    # They are tried again at a start, and are refused again, and nothing else minds.
    async with bench.projecting(all_of_them):
        await bench.world.append(evening(5, hands=1))
        await bench.caught_up(all_of_them)
    assert {each.stream: each for each in await bench.reader.parked("rejecting")} == waiting
    for good in goods:
        assert await bench.reader.parked(good.name) == []
    await bench.compare(goods)


async def test_a_step_that_fails_parks_its_stream(bench: Bench) -> None:
    def fail(recorded: Any) -> bool:
        return hand_of_one(recorded) and bool(1 // 0)

    refuse: Refuse = fail
    await bench.world.append(evening(1), evening(2))
    projection = counting("one", refuse)
    async with bench.projecting((projection,)):
        await bench.caught_up((projection,))
    (parked,) = await bench.reader.parked("one")
    assert (parked.stream, parked.code) == (STREAM, "failed")
    assert parked.reason == "ZeroDivisionError: integer division or modulo by zero"


async def test_a_state_that_cannot_be_read_parks_its_stream(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of an older shape has left it; with a code that can read it the stream goes on."""
    monkeypatch.setattr(memory, "STORE_EVERY", 1)
    first, second = halves(evening(1, close=False))
    await bench.world.append(first, evening(2))
    projection = counting("one")
    async with bench.projecting((projection,)):
        await bench.caught_up((projection,))
    _change_state(bench, "jsonb_build_object('seq', state::jsonb -> 'seq' #>> '{}')")
    await bench.world.append(second, evening(3))
    async with bench.projecting((projection,)):
        await bench.caught_up((projection,))
    (parked,) = await bench.reader.parked("one")
    assert (parked.stream, parked.code) == (STREAM, "unreadable_state")
    assert parked.reason == "Expected `int`, got `str` - at `$.seq`"
    _change_state(bench, "jsonb_build_object('seq', (state::jsonb ->> 'seq')::int)")
    async with bench.projecting((projection,)):
        await eventually(lambda: _none_parked(bench, "one"))
    await bench.compare((projection,))


def _change_state(bench: Bench, expression: str) -> None:
    with psycopg.connect(bench.database.owner_url) as connection:
        query = f"update one_v1.stream_state set state = ({expression})::json where stream = '{STREAM}'"
        assert connection.execute(query.encode()).rowcount == 1


async def _seen(bench: Bench, name: str) -> list[int]:
    """The numbers of the first table's events that were applied."""
    query = "select array_agg(seq order by seq) as seqs from {schema}.seen where stream = %(stream)s"
    (row,) = await bench.reader.rows(name, query, {"stream": STREAM}, dict[str, list[int]])
    return row["seqs"]


async def _none_parked(bench: Bench, name: str) -> bool:
    return not await bench.reader.parked(name)


async def _parked_at(bench: Bench, name: str, seq: int) -> bool:
    standing = await bench.standing(name)
    return standing is not None and [each.seq for each in standing.parked] == [seq]


def _meta() -> bytes:
    return b'{"at":"2026-01-02T03:04:05.678Z","subject":"anna","role":"player","by":"player","request":""}'
