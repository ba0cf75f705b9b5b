"""Redis: messages to whoever listens now, and nothing that would be missed. Source: DESIGN "Projections", live.

A message may be lost at any time: who receives finds a hole in the events' numbers and reads them from Postgres.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from infra.metrics import REDIS_DROPPED, REDIS_SENT, RedisLink

LOBBY = "khrap:lobby"
NUDGE = "khrap:nudge"
"""Something was appended: who tails the log may look at once."""
LINK = "khrap:link"
"""Nobody publishes here; a subscriber is on it always, so that its connection is one of a subscriber from the start."""

WAITING = 10_000
"""So many messages may wait to be sent; more are dropped."""
AT_ONCE = 500
TIMEOUT_S = 2.0
SILENCE_S = 2.0
"""After so long without a word the link is tried with a PING, and given up after as long again."""
RECONNECT_S = (0.05, 2.0)

Broken = (RedisError, OSError, TimeoutError)

log = structlog.get_logger(__name__)


def table_channel(table_id: str) -> str:
    """The channel of a table's public messages."""
    return f"khrap:table:{table_id}"


def connect(url: str) -> Redis:
    """A client that fails at once rather than try again by itself. It connects when it is first used."""
    return Redis.from_url(
        url, socket_connect_timeout=TIMEOUT_S, socket_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0), protocol=3
    )


class Publisher:
    """Sends what it can and drops what it cannot; `run` until cancelled.

    `up` is whether Redis answers, `sent` and `dropped` count messages.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._wake = asyncio.Event()
        self.up = False
        self.sent = 0
        self.dropped = 0

    def publish(self, channel: str, data: bytes) -> None:
        """Send soon, or drop: never waits."""
        if not self.up or len(self._waiting) >= WAITING:
            self._dropped(1)
            return
        self._waiting.append((channel, data))
        self._wake.set()

    async def run(self) -> None:
        """Connect, send, and connect anew when the link is lost."""
        link = RedisLink()
        try:
            await self._run(link)
        finally:
            link.close()

    async def _run(self, link: RedisLink) -> None:
        delay_s = RECONNECT_S[0]
        while True:
            link.set(up=False)
            redis = connect(self._url)
            try:
                await redis.ping()
                self.up = True
                link.set(up=True)
                delay_s = RECONNECT_S[0]
                await self._send_on(redis)
            except Broken as error:
                log.warning("redis_waits", who="publisher", error=str(error), dropped=self.dropped)
            finally:
                self.up = False
                link.set(up=False)
                self._dropped(len(self._waiting))
                self._waiting.clear()
                with suppress(*Broken):
                    await redis.aclose()
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, RECONNECT_S[1])

    async def _send_on(self, redis: Redis) -> None:
        # On one connection, held: the client's own pipeline takes one anew each time, and half as long again.
        connection = await redis.connection_pool.get_connection()  # type: ignore[no-untyped-call]
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                count = min(len(self._waiting), AT_ONCE)
                commands = [("PUBLISH", *self._waiting[i]) for i in range(count)]
                await connection.send_packed_command(connection.pack_commands(commands))
                for _ in range(count):
                    await connection.read_response()
                for _ in range(count):
                    self._waiting.popleft()
                self.sent += count
                REDIS_SENT.inc(count)

    def _dropped(self, count: int) -> None:
        self.dropped += count
        REDIS_DROPPED.inc(count)


class Link(Struct, frozen=True):
    """Whether messages come at present. While they do not, look in Postgres; when they come again, look once more."""

    up: bool


class Message(Struct, frozen=True):
    """What somebody published."""

    channel: str
    data: bytes


class Subscriber:
    """Listens on channels that come and go, and connects anew when the link is lost. One task reads `messages`."""

    def __init__(self, url: str, channels: Iterable[str] = ()) -> None:
        self._url = url
        self._wanted = {LINK, *channels}
        self._pubsub: PubSub | None = None
        self._unconfirmed: dict[str, asyncio.Event] = {}
        self.up = False

    async def subscribe(self, *channels: str) -> bool:
        """Listen on these too, from when this returns. False where the link is down: then from when it is up."""
        new = [channel for channel in channels if channel not in self._wanted]
        self._wanted.update(new)
        if self._pubsub is None or not self.up:
            return False
        for channel in new:
            self._unconfirmed[channel] = asyncio.Event()
        confirmed = [self._unconfirmed[channel] for channel in channels if channel in self._unconfirmed]
        try:
            if new:
                await self._pubsub.subscribe(*new)
            async with asyncio.timeout(TIMEOUT_S):
                for each in confirmed:
                    await each.wait()
        except Broken:
            return False  # the reader finds the link broken too, and subscribes to all that is wanted
        return self.up

    async def unsubscribe(self, *channels: str) -> None:
        """Listen on these no longer."""
        gone = [channel for channel in channels if channel in self._wanted and channel != LINK]
        self._wanted.difference_update(gone)
        if self._pubsub is not None and self.up and gone:
            with suppress(*Broken):
                await self._pubsub.unsubscribe(*gone)

    async def messages(self) -> AsyncIterator[Message | Link]:
        """What comes, and whether anything can come, for ever. The first word is a `Link`."""
        link = RedisLink()
        link.set(up=False)
        try:
            async for item in self._messages():
                if isinstance(item, Link):
                    link.set(up=item.up)
                yield item
        finally:
            link.close()

    async def _messages(self) -> AsyncIterator[Message | Link]:
        delay_s = RECONNECT_S[0]
        yield Link(up=False)
        while True:
            redis = connect(self._url)
            pubsub = redis.pubsub()
            try:
                await pubsub.subscribe(*self._wanted)
                self._pubsub, self._unconfirmed = pubsub, {each: asyncio.Event() for each in self._wanted}
                async for item in self._read(pubsub):
                    delay_s = RECONNECT_S[0]
                    yield item
            except Broken as error:
                log.warning("redis_waits", who="subscriber", error=str(error))
            finally:
                was_up, self.up, self._pubsub = self.up, False, None
                for confirmed in self._unconfirmed.values():
                    confirmed.set()
                with suppress(*Broken):
                    await pubsub.aclose()  # type: ignore[no-untyped-call]
                    await redis.aclose()
            if was_up:
                yield Link(up=False)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, RECONNECT_S[1])

    async def _read(self, pubsub: PubSub) -> AsyncIterator[Message | Link]:
        asked = False
        while True:
            received: dict[str, Any] | None = await pubsub.get_message(timeout=SILENCE_S)
            if received is None:
                if asked:
                    raise TimeoutError(f"no word for {2 * SILENCE_S} s")
                await pubsub.ping()
                asked = True
                continue
            asked = False
            match received["type"]:
                case "message":
                    yield Message(received["channel"].decode(), received["data"])
                case "subscribe":
                    confirmed = self._unconfirmed.pop(received["channel"].decode(), None)
                    if confirmed is not None:
                        confirmed.set()
                    if not self.up and not self._unconfirmed:
                        self.up = True
                        yield Link(up=True)
                case _:
                    pass
