"""Questions that come at the same time share a round trip, and are answered as if asked alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from infra.store import EventStore, reader
from infra.store.batch import Batch
from tests.infra.store.streams import command, event, head_of, new_stream, write


async def test_what_is_asked_during_a_question_is_asked_in_the_next() -> None:
    """Never in the one under way: its answer may be older than the question."""
    asked: list[list[int]] = []
    gate = asyncio.Event()

    async def ask(keys: Sequence[int]) -> dict[int, int]:
        asked.append(list(keys))
        await gate.wait()
        return {key: key * key for key in keys if key != 3}

    batch = Batch(ask)
    first = asyncio.create_task(batch.get(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [asyncio.create_task(batch.get(key)) for key in (1, 2, 3, 2)]
    await asyncio.sleep(0)
    gate.set()
    assert [await first, *await asyncio.gather(*later)] == [1, 1, 4, None, 4]
    assert asked == [[1], [1, 2, 3]]


async def test_who_goes_away_takes_nobody_s_answer() -> None:
    gate = asyncio.Event()

    async def ask(keys: Sequence[str]) -> dict[str, str]:
        await gate.wait()
        return {key: key for key in keys}

    batch = Batch(ask)
    leaving, staying = asyncio.create_task(batch.get("a")), asyncio.create_task(batch.get("a"))
    await asyncio.sleep(0)
    leaving.cancel()
    gate.set()
    assert await staying == "a"


async def test_a_question_that_fails_fails_for_all_who_asked_and_for_nobody_after() -> None:
    answers = iter([RuntimeError("away"), None])

    async def ask(keys: Sequence[str]) -> dict[str, str]:
        error = next(answers)
        if error is not None:
            raise error
        return {key: key for key in keys}

    batch = Batch(ask)
    failed = await asyncio.gather(batch.get("a"), batch.get("b"), return_exceptions=True)
    assert [str(each) for each in failed] == ["away", "away"]
    assert await batch.get("a") == "a"
    gone = asyncio.create_task(batch.get("b"))
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_many_heads_and_commands_at_once(store: EventStore) -> None:
    streams = [await write(store, new_stream(), number % 3 + 1) for number in range(20)]
    commands = [command((new_stream(), [event()]), (new_stream("account"), [event()])) for _ in range(20)]
    for each in commands:
        head_of(await store.append(each))
    unknown = new_stream()
    asked = [head.stream for head in streams]
    heads = await asyncio.gather(*[store.head(each) for each in asked], store.head(unknown.stream))
    assert list(heads) == [*streams, None]
    found = await asyncio.gather(
        *[store.find_command(each.command_id, [each.streams[0].stream]) for each in commands],
        *[store.find_command(each.command_id, [stream.stream for stream in each.streams]) for each in commands],
        store.find_command(bytes(16), [unknown.stream]),
    )
    assert all(
        each[0].command_id == given.command_id for each, given in zip(found, [*commands, *commands], strict=False)
    )
    assert {len(each) for each in found[:20]} <= {1, 2}
    assert {len(each) for each in found[20:40]} == {2}
    assert found[40] == ()


async def test_what_is_newer_is_told_of_each_stream_from_where_each_asks(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many streams in one round trip, one of them asked for from two places; and more than a round trip gives."""
    monkeypatch.setattr(reader, "AT_A_TIME", 3)
    heads = [new_stream() for _ in range(4)]
    for number, head in enumerate(heads):
        if number:
            await write(store, head, 4 * number)
    asked = [(head.stream, after) for head in heads for after in (0, 3, 5, 12)]
    found = await asyncio.gather(*[store.newer(*each) for each in asked])
    for (stream, after), events in zip(asked, found, strict=True):
        assert events == await store.read_stream(stream, after)
