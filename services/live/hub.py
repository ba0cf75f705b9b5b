"""The tables that this node's clients follow: woken by its own appends, by others' over Redis, or by looking.

A wake-up says only that there is something; what it is comes from the log, through this node's own fold, and goes out
in the order of the events' numbers. So a wake-up may be lost, doubled or late: it costs time and nothing else. While
Redis is away, the heads of the followed tables are looked at instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec
from msgspec import Struct

from domain.table import Table
from infra.clock import Clock
from infra.faults import Fault
from infra.redis import LOBBY, Link, Message, Subscriber, table_channel
from infra.telemetry import logger
from services.live.feed import Feed
from services.live.lobby import Lobby
from services.live.mistakes import told
from services.live.past import Past
from services.live.sight import Sight
from services.live.streams import Streams
from services.play.types import Step

LOOK_S = 1.0
"""How often the heads are looked at while wake-ups come: a lost one costs so much."""
LOOK_ALONE_S = 0.05
"""How often while none can come."""
AFTER_FAULT_S = 0.2
AT_ONCE = 8
CHANNEL = table_channel("")

log = logger("live")


class Tables(Protocol):
    """What the hub asks of play."""

    async def table(self, table_id: str) -> tuple[int, Table] | None:
        """The table's version and state, not older than the log."""

    async def steps(self, table_id: str, after: int, limit: int = 1_000) -> list[Step]:
        """The recorded events after `after`, each with the table after it."""

    def on_steps(self, listener: Callable[[str, Sequence[Step]], None]) -> None:
        """Tell `listener` of each append of this process."""


Versions = Callable[[Iterable[str]], Awaitable[Mapping[str, int]]]
"""The log's last number of each of these tables."""


class _Published(Struct):
    """What the hub reads of a table's message: up to which event it goes."""

    seq: int


class Hub:
    """All feeds of this node. `run` until cancelled; `close` lets every client go."""

    def __init__(
        self,
        play: Tables,
        versions: Versions,
        clock: Clock,
        subscriber: Subscriber,
        lobby: Lobby,
        streams: Streams | None = None,
    ) -> None:
        self.play = play
        self.past = Past(play.steps)
        self.sight = Sight(play.table, self.past)
        self.clock = clock
        self.lobby = lobby
        self.streams = streams or Streams()
        self.closing = asyncio.Event()
        self._versions = versions
        self._subscriber = subscriber
        self._subscribed: set[str] = set()
        self.linked = False
        """Whether wake-ups come at present."""
        self._feeds: dict[str, Feed] = {}
        self._wake = asyncio.Event()
        self._published = msgspec.json.Decoder(_Published)
        play.on_steps(self._stepped)

    # --- clients

    @asynccontextmanager
    async def following(self, table_id: str) -> AsyncIterator[Feed | None]:
        """The table's feed, for as long as the block runs; None where there is no such table. Raises Fault."""
        feed = self._feeds.get(table_id)
        if feed is None:
            found = await self.play.table(table_id)
            if found is None:
                yield None
                return
            # Another client may have made it meanwhile. What is appended from here on reaches the feed by itself; what
            # was appended while the table was read, or before its channel was ours, is found by the look that follows.
            feed = self._feeds.setdefault(table_id, Feed(table_id, *found))
            feed.behind = True
            self._wake.set()
        feed.clients += 1
        try:
            yield feed
        finally:
            feed.clients -= 1
            if not feed.clients and self._feeds.get(table_id) is feed:
                del self._feeds[table_id]

    def close(self) -> None:
        """The node goes down: every stream ends, and its client resumes elsewhere."""
        self.closing.set()
        self.lobby.close()
        for feed in self._feeds.values():
            feed.wake()

    # --- wake-ups

    def _stepped(self, table_id: str, steps: Sequence[Step]) -> None:
        feed = self._feeds.get(table_id)
        if feed is not None and not feed.advance(steps):
            self._wake.set()

    def _stands_at(self, table_id: str, version: int) -> None:
        feed = self._feeds.get(table_id)
        if feed is not None and version > feed.head:
            feed.behind = True
            self._wake.set()

    async def _listen(self) -> None:
        """Take wake-ups for as long as they come."""
        async for item in self._subscriber.messages():
            match item:
                case Link(up):
                    self.linked = up
                    self.lobby.linked = up
                    if up:  # what was published while nobody listened is found by looking once
                        self._look_at_all()
                case Message(channel, _) if channel == LOBBY:
                    self.lobby.wake()
                case Message(channel, data) if channel.startswith(CHANNEL):
                    try:
                        self._stands_at(channel.removeprefix(CHANNEL), self._published.decode(data).seq)
                    except msgspec.MsgspecError:
                        log.warning("message_unknown", channel=channel)
                case _:
                    pass

    def _look_at_all(self) -> None:
        for feed in self._feeds.values():
            feed.behind = True
        self._wake.set()
        self.lobby.wake()

    # --- catching up

    async def run(self) -> None:
        """Keep all feeds up with the log until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(_kept("listen", self._listen))
            group.create_task(_kept("lobby", self.lobby.run))
            group.create_task(_kept("feeds", self._keep_up))

    async def _keep_up(self) -> None:
        while True:
            try:
                await self._wait()
                await self._subscribe()
                await self._catch_up()
            except Fault as fault:
                log.warning("live_waits", code=fault.code, detail=fault.detail)
                await asyncio.sleep(AFTER_FAULT_S)

    async def _wait(self) -> None:
        """Until a wake-up, or until it is time to look at the heads, which tells which feeds are behind."""
        try:
            async with asyncio.timeout(LOOK_S if self.linked else LOOK_ALONE_S):
                await self._wake.wait()
        except TimeoutError:
            if self._feeds:
                for table_id, version in (await self._versions(tuple(self._feeds))).items():
                    self._stands_at(table_id, version)
        self._wake.clear()

    async def _subscribe(self) -> None:
        """Listen on the channels of the followed tables and of no others; one task does it, so nothing crosses."""
        wanted = set(self._feeds)
        new, gone = wanted - self._subscribed, self._subscribed - wanted
        if new:
            await self._subscriber.subscribe(*(table_channel(table_id) for table_id in new))
        if gone:
            await self._subscriber.unsubscribe(*(table_channel(table_id) for table_id in gone))
        self._subscribed = wanted

    async def _catch_up(self) -> None:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(feed: Feed) -> None:
            async with room:
                await self._refill(feed)

        behind = [feed for feed in self._feeds.values() if feed.behind]
        found = await asyncio.gather(*(one(feed) for feed in behind), return_exceptions=True)
        failed = [error for error in found if isinstance(error, BaseException)]
        if failed:
            self._wake.set()  # those that failed are still behind
            raise failed[0]

    async def _refill(self, feed: Feed) -> None:
        """Bring a feed up to the log. The fold is brought up first, so that the steps need not be folded anew."""
        found = await self.play.table(feed.table_id)
        version = feed.head if found is None else found[0]
        while feed.head < version:
            steps = await self.play.steps(feed.table_id, feed.head)
            if not steps or not feed.advance(steps):
                break
        feed.behind = feed.head < version


async def _kept(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do `work` for ever. A mistake of ours in it is logged and it begins anew: clients are not left without events."""
    while True:
        try:
            await work()
        except Exception as error:  # noqa: BLE001
            log.error("live_failed", what=what, **told(error))
        await asyncio.sleep(AFTER_FAULT_S)
