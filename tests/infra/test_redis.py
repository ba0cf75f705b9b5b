"""Redis may go and come at any time: what is sent meanwhile is dropped and counted, and who listens is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from infra import redis
from infra.redis import Link, Message, Publisher, Subscriber
from tests.infra.own_valkey import OwnValkey, own_valkey

WITHIN_S = 10.0


@pytest.fixture
def valkey() -> Iterator[OwnValkey]:
    """A Valkey of this test's own."""
    with own_valkey() as valkey:
        yield valkey


@asynccontextmanager
async def publishing(url: str) -> AsyncIterator[Publisher]:
    """A publisher that runs."""
    publisher = Publisher(url)
    task = asyncio.create_task(publisher.run())
    try:
        yield publisher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def listening(subscriber: Subscriber) -> AsyncIterator[asyncio.Queue[Message | Link]]:
    """What a subscriber yields."""
    queue: asyncio.Queue[Message | Link] = asyncio.Queue()

    async def read() -> None:
        async for each in subscriber.messages():
            queue.put_nowait(each)

    task = asyncio.create_task(read())
    try:
        yield queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def up(publisher: Publisher) -> None:
    """Wait until it can send."""
    async with asyncio.timeout(WITHIN_S):
        while not publisher.up:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def got(queue: asyncio.Queue[Message | Link]) -> Message | Link:
    """The next thing that was yielded."""
    async with asyncio.timeout(WITHIN_S):
        return await queue.get()


async def test_messages_go_to_their_channels_in_order(redis_url: str) -> None:
    subscriber = Subscriber(redis_url, ["khrap:test:order"])
    async with publishing(redis_url) as publisher, listening(subscriber) as queue:
        assert await got(queue) == Link(up=False)
        assert await got(queue) == Link(up=True)
        await up(publisher)
        for number in range(2_000):
            publisher.publish("khrap:test:order", b"%d" % number)
            publisher.publish("khrap:test:other", b"not ours")
        assert [await got(queue) for _ in range(2_000)] == [
            Message("khrap:test:order", b"%d" % number) for number in range(2_000)
        ]
        async with asyncio.timeout(WITHIN_S):
            while publisher.sent < 4_000:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert publisher.dropped == 0


async def test_channels_come_and_go(redis_url: str) -> None:
    """From when `subscribe` returns nothing is missed; after `unsubscribe` nothing more comes."""
    subscriber = Subscriber(redis_url)
    async with publishing(redis_url) as publisher, listening(subscriber) as queue:
        assert await got(queue) == Link(up=False)
        assert await got(queue) == Link(up=True)
        await up(publisher)
        for number in range(50):
            channel = f"khrap:test:go:{number}"
            assert await subscriber.subscribe(channel, "khrap:test:stays")
            publisher.publish(channel, b"a")
            assert await got(queue) == Message(channel, b"a")
            await subscriber.unsubscribe(channel)
        await asyncio.gather(*(subscriber.subscribe(f"khrap:test:many:{n}") for n in range(200)))
        for number in range(50):
            publisher.publish(f"khrap:test:go:{number}", b"too late")
        for number in range(200):
            publisher.publish(f"khrap:test:many:{number}", b"%d" % number)
        assert [await got(queue) for _ in range(200)] == [
            Message(f"khrap:test:many:{n}", b"%d" % n) for n in range(200)
        ]


async def test_both_come_back_after_redis_was_killed(valkey: OwnValkey) -> None:
    subscriber = Subscriber(valkey.url, ["khrap:test:a"])
    async with publishing(valkey.url) as publisher, listening(subscriber) as queue:
        assert [await got(queue), await got(queue)] == [Link(up=False), Link(up=True)]
        await up(publisher)
        publisher.publish("khrap:test:a", b"before")
        assert await got(queue) == Message("khrap:test:a", b"before")
        valkey.kill()
        assert await got(queue) == Link(up=False)
        assert not await subscriber.subscribe("khrap:test:b")
        sent = publisher.sent
        for _ in range(5):
            publisher.publish("khrap:test:a", b"meanwhile")
            await asyncio.sleep(0.05)
        assert not publisher.up
        assert (publisher.sent, publisher.dropped) == (sent, 5)
        valkey.start()
        assert await got(queue) == Link(up=True)
        await up(publisher)
        publisher.publish("khrap:test:b", b"after")
        assert await got(queue) == Message("khrap:test:b", b"after")


async def test_both_begin_before_redis_is_there(valkey: OwnValkey) -> None:
    valkey.kill()
    subscriber = Subscriber(valkey.url, ["khrap:test:a"])
    async with publishing(valkey.url) as publisher, listening(subscriber) as queue:
        assert await got(queue) == Link(up=False)
        publisher.publish("khrap:test:a", b"nobody hears it")
        await asyncio.sleep(0.3)
        valkey.start()
        assert await got(queue) == Link(up=True)
        await up(publisher)
        publisher.publish("khrap:test:a", b"hello")
        assert await got(queue) == Message("khrap:test:a", b"hello")


async def test_a_silent_link_is_given_up(valkey: OwnValkey, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that was cut, a server that hangs: no error comes, so silence has to do."""
    monkeypatch.setattr(redis, "SILENCE_S", 0.1)
    monkeypatch.setattr(redis, "TIMEOUT_S", 0.2)
    subscriber = Subscriber(valkey.url, ["khrap:test:a"])
    async with publishing(valkey.url) as publisher, listening(subscriber) as queue:
        assert [await got(queue), await got(queue)] == [Link(up=False), Link(up=True)]
        await up(publisher)
        await asyncio.sleep(0.5)
        assert queue.empty()  # quiet, not silent: PING was answered
        valkey.pause()
        assert await got(queue) == Link(up=False)
        publisher.publish("khrap:test:a", b"lost")
        async with asyncio.timeout(WITHIN_S):
            while publisher.up:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert publisher.dropped == 1
        valkey.resume()
        assert await got(queue) == Link(up=True)


async def test_too_much_is_dropped_and_counted(valkey: OwnValkey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "WAITING", 100)
    async with publishing(valkey.url) as publisher:
        await up(publisher)
        for _ in range(150):
            publisher.publish("khrap:test:a", b"x")
        assert publisher.dropped == 50
