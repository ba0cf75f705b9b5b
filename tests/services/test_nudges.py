"""What a process says of its appends is heard by who follows on other nodes; what comes together is one word."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from infra.redis import NUDGE, Link, Message, Publisher, Subscriber, table_channel
from infra.store import StreamHead
from services.live import hub
from services.nudges import Nudges
from tests.conftest import Database
from tests.services.api.following import following, is_event
from tests.services.api.nodes import running_node, until


def head(stream: str, seq: int) -> StreamHead:
    return StreamHead(stream, seq, bytes(32))


async def test_the_first_append_is_told_at_once_and_those_right_after_together(redis_url: str) -> None:
    publisher = Publisher(redis_url)
    subscriber = Subscriber(redis_url, [NUDGE, table_channel("a"), table_channel("b")])
    heard: asyncio.Queue[Message | Link] = asyncio.Queue()

    async def listen() -> None:
        async for each in subscriber.messages():
            heard.put_nowait(each)

    async def next_word() -> dict[str, int]:
        """What is said of tables up to the next word for the projector."""
        told: dict[str, int] = {}
        async with asyncio.timeout(10):
            while isinstance(message := await heard.get(), Message) and message.channel != NUDGE:
                of = msgspec.json.decode(message.data)
                assert (message.channel, of["events"]) == (table_channel(of["table"]), [])
                told[of["table"]] = of["seq"]
        return told

    tasks = [asyncio.create_task(publisher.run()), asyncio.create_task(listen())]
    try:
        assert [await heard.get(), await heard.get()] == [Link(up=False), Link(up=True)]
        await until(lambda: asyncio.sleep(0, publisher.up))
        nudges = Nudges(publisher)
        nudges.appended([head("table-a", 3), head("account-x-RUB", 1)])
        nudges.appended([head("table-a", 5)])
        nudges.appended([head("table-b", 1), head("table-a", 6)])
        assert [await next_word(), await next_word()] == [{"a": 3}, {"a": 6, "b": 1}]
        nudges.appended([head("account-x-RUB", 2)])
        assert await next_word() == {}
        assert heard.empty()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_who_follows_a_table_on_another_node_needs_no_projector(
    database: Database, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOOK_S", 600.0)
    async with (
        running_node(database, redis_url, tmp_path, parts=("api",)) as one,
        running_node(database, redis_url, tmp_path, parts=("api",)) as two,
    ):
        table_id = await one.open_table()
        async with following(two.anyone(), f"/v1/tables/{table_id}/events", after=0) as stream:
            numbers = [m.number for m in await stream.until(is_event("hand_committed"))]
            for player in ("near-a", "near-b"):
                await one.seat(table_id, player)
                numbers += [m.number for m in await stream.until(is_event("player_sat"))]
    assert numbers == list(range(1, len(numbers) + 1))
