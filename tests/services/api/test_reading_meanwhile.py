"""A table that is read while it is written: what went wrong once was a cached state taken after a wait.

A reader's look at the log brought the cached table up to the event that a command was just appending, and the command
then applied its event to it a second time; and two readers at once did the same to each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.services.api.following import following, is_event, play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_reader_between_a_commit_and_its_answer(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    store, play = node.core.store, node.core.play
    append = store.append

    async def append_then_read(given: Any, then: Callable[[Any], None] | None = None) -> Any:
        stored: list[Any] = []
        verdict = await append(given, stored.append)
        stream = given.streams[0].stream
        if stream.startswith("table-"):
            await play.table(stream.removeprefix("table-"))
        if then is not None:
            for each in stored:
                then(each)
        return verdict

    monkeypatch.setattr(store, "append", append_then_read)
    table_id = await node.open_table(pause_ms=600_000)
    await node.seat(table_id, "between")
    path = f"/v1/tables/{table_id}"
    async with following(node.as_("between"), f"{path}/events", after=0) as stream:
        sat_out = await node.as_("between").did(f"{path}/sit-out")
        returned = await node.as_("between").did(f"{path}/return")
        assert (sat_out["version"], returned["version"]) == (4, 5)
        assert [m.number for m in await stream.until(is_event("player_returned"))] == [1, 2, 3, 4, 5]


async def test_two_readers_at_once(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    store, play = node.core.store, node.core.play
    table_id = await node.open_table(turn_ms=300_000, pause_ms=2_000)
    await node.seat(table_id, "reader-a", "reader-b")

    async def turn() -> Any:
        return (await node.as_("reader-a").saw(f"/v1/tables/{table_id}"))["turn"]

    await until(turn)
    warm = play._tables._warm.pop(table_id)
    await play_hand(node, table_id, "reader-a", "reader-b")
    play._tables._warm[table_id] = warm  # as if another process had played that hand
    newer, both = store.newer, asyncio.Barrier(2)

    read = []

    async def read_together(stream: str, after: int) -> Any:
        found = await newer(stream, after)
        if stream == f"table-{table_id}":
            read.append(len(found))
            await both.wait()
        return found

    monkeypatch.setattr(store, "newer", read_together)
    first, second = await asyncio.gather(play.table(table_id), play.table(table_id))
    monkeypatch.undo()
    assert len(read) == 2
    assert min(read) > 0
    play._tables._warm.pop(table_id)
    assert first == second == await play.table(table_id)
