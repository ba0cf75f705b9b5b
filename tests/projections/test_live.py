"""Live messages: public halves alone, every number, nothing again, and nothing lost but time when Redis goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from domain.events import CardsDealt, ClientSeedSet, HandStarted
from domain.halves import public_event
from infra.redis import LOBBY, Link, Message, Subscriber, table_channel
from tests.domain.ledger.evenings import Entry
from tests.infra.own_valkey import own_valkey
from tests.projections.conftest import Bench, eventually
from tests.projections.counting import counting
from tests.projections.world import evening, halves, table_id

ONE = table_id(1)


@asynccontextmanager
async def heard(url: str, *channels: str) -> AsyncIterator[list[Message]]:
    """What comes over `channels`, from when the link is up."""
    messages: list[Message] = []
    ready = asyncio.Event()

    async def read() -> None:
        async for each in Subscriber(url, channels).messages():
            if isinstance(each, Link):
                if each.up:
                    ready.set()
            else:
                messages.append(each)

    task = asyncio.create_task(read())
    try:
        await asyncio.wait_for(ready.wait(), 10)
        yield messages
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def of_table(messages: list[Message]) -> list[dict[str, Any]]:
    """The tables' messages, decoded."""
    return [msgspec.json.decode(m.data) for m in messages if m.channel != LOBBY]


def last_seq(messages: list[Message]) -> int:
    """The last number that was heard of."""
    return max((m["seq"] for m in of_table(messages)), default=0)


def public(entries: list[Entry]) -> list[dict[str, Any]]:
    """What everybody may hear of a table's events."""
    heard = [
        {"seq": e.seq, "at_ms": e.at_ms, **public_event(e.event)} for e in entries if e.stream.startswith("table-")
    ]
    decoded: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(heard))
    return decoded


async def live(bench: Bench, messages: list[Message]) -> None:
    """Append small evenings until the projector publishes: it begins at the end of the log once it has the lock."""
    for _ in range(100):
        before = len(messages)
        await bench.world.append(evening(1_000 + bench.world.events, hands=0))
        await asyncio.sleep(0.1)
        if len(messages) > before:
            return
    raise TimeoutError("nothing is published")


async def test_every_public_half_once_in_order_and_no_secret(bench: Bench) -> None:
    entries = evening(1, hands=8)
    async with heard(bench.redis_url, table_channel(ONE), LOBBY) as messages, bench.projecting():
        await live(bench, messages)
        messages.clear()
        await bench.world.append(entries, evening(2))
        numbers = [e.seq for e in entries if e.stream == f"table-{ONE}"]
        await eventually(lambda: _true(last_seq(messages) == numbers[-1]))
        await bench.caught_up()
        await asyncio.sleep(0.2)
    events = [event for message in of_table(messages) for event in message["events"]]
    assert [event["seq"] for event in events] == numbers
    assert events == public(entries)
    for message in of_table(messages):
        assert message["table"] == ONE
        assert message["seq"] == message["events"][-1]["seq"]
    everything = b"".join(message.data for message in messages)
    for secret in _secrets(entries):
        assert secret not in everything


def _secrets(entries: list[Entry]) -> list[bytes]:
    """Seeds, and what is dealt as it would stand in JSON."""
    found: list[bytes] = []
    for entry in entries:
        match entry.event:
            case HandStarted(server_seed=seed) | ClientSeedSet(client_seed=seed):
                found.append(seed.encode())
            case CardsDealt(deck=deck):
                found.append(msgspec.json.encode(deck[:4])[1:-1])
                found.append(msgspec.json.encode(deck[-8:])[1:-1])
            case _:
                pass
    assert len(found) > 8
    return found


async def test_the_lobby_hears_of_each_change(bench: Bench) -> None:
    async with heard(bench.redis_url, LOBBY) as messages, bench.projecting():
        await live(bench, messages)
        messages.clear()
        await bench.world.append(evening(1))
        await bench.caught_up()
        await eventually(lambda: _true(any(_closed(each) for each in messages)))
    mine = [table for m in messages if (table := msgspec.json.decode(m.data))["table_id"] == ONE]
    assert [table["seq"] for table in mine] == sorted({table["seq"] for table in mine})
    assert mine[-1]["closed"]
    assert mine[-1]["seats"] == []
    assert mine[-1]["settings"]["currency"] == "RUB"


async def test_a_rebuild_repeats_no_message(bench: Bench) -> None:
    """What is in the log when the projector starts is not published, though a projection has all of it to apply."""
    mine = table_id(901), table_id(902)  # other workers publish of theirs on the same server
    await bench.world.append(evening(901), evening(902))
    async with heard(bench.redis_url, *map(table_channel, mine), LOBBY) as messages:
        async with bench.projecting():
            await bench.caught_up()
            await asyncio.sleep(0.3)
        late = counting("late")
        async with bench.projecting((late,)):
            await bench.caught_up((late,))
            await asyncio.sleep(0.3)
    assert [m for m in messages if any(table.encode() in m.data for table in mine)] == []


async def test_play_and_projections_go_on_without_redis(bench: Bench) -> None:
    first, second = halves(evening(1, close=False))
    third = evening(2)
    with own_valkey() as valkey:
        bench.redis_url = valkey.url
        async with bench.projecting():
            async with heard(valkey.url, table_channel(ONE), LOBBY) as messages:
                await live(bench, messages)
                await bench.world.append(first)
                await eventually(lambda: _true(last_seq(messages) == _last(first)))
            valkey.kill()
            await bench.world.append(second)
            await bench.caught_up()
            valkey.start()
            async with heard(valkey.url, table_channel(table_id(2)), LOBBY) as messages:
                await live(bench, messages)
                await bench.world.append(third)
                await eventually(lambda: _true(last_seq(messages) == _last(third)))
            await bench.caught_up()
    await bench.compare()


async def test_one_process_publishes(bench: Bench) -> None:
    entries = evening(1)
    async with heard(bench.redis_url, table_channel(ONE), LOBBY) as messages:
        async with bench.projecting(), bench.projecting():
            await live(bench, messages)
            messages.clear()
            await bench.world.append(entries)
            await eventually(lambda: _true(last_seq(messages) == _last(entries)))
            await asyncio.sleep(0.2)
        numbers = [event["seq"] for message in of_table(messages) for event in message["events"]]
    assert numbers == [e.seq for e in entries if e.stream == f"table-{ONE}"]


@pytest.mark.parametrize("gone", [1, 5])
async def test_a_projector_on_another_node_is_nudged(bench: Bench, gone: int) -> None:
    """The bench's own store appends; the projector's hears of it over Redis or looks within 50 ms."""
    async with heard(bench.redis_url, table_channel(ONE), LOBBY) as messages, bench.projecting():
        await live(bench, messages)
        await bench.world.append(evening(1, hands=gone))
        await eventually(lambda: _true(last_seq(messages) == bench.world.heads[f"table-{ONE}"][0]), within_s=5)


def _last(entries: list[Entry]) -> int:
    return max(e.seq for e in entries if e.stream.startswith("table-"))


def _closed(message: Message) -> bool:
    table = msgspec.json.decode(message.data)
    return bool(table["table_id"] == ONE and table["closed"])


async def _true(value: bool) -> bool:
    return value
