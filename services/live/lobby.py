"""The lobby as clients see it live: every open table once, then each that changes. Source: DESIGN "Projections", live.

It is read from the projection, so that losing a message loses nothing. Where a table delays its spectators or has none,
the lobby shows who sits there and not how the game goes: no hand, no bank.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress

from msgspec import Struct

from domain.events import Settings
from infra.clock import Clock
from infra.faults import Fault
from infra.telemetry import logger
from projections.lobby import LobbyTable
from services.live.messages import OPENING, PING, end, message
from services.live.streams import Holder, Streams

LOOK_S = 1.0
LOOK_ALONE_S = 0.2
PING_S = 15.0
RING = 1_024
SNAPSHOT = 1_000
"""The most tables of a snapshot; there are more behind `next`, in the list."""

log = logger("live")

Vector = Mapping[int, int]


class LobbySeatEntry(Struct, frozen=True, kw_only=True):
    """Who sits where."""

    seat: int
    player: str
    sitting_out: bool


class LobbyEntry(Struct, frozen=True, kw_only=True):
    """A table in the lobby. `carried_bank`, `hand_no`, `playing` are null where spectators may not see them at once."""

    table_id: str
    opened_ms: int
    settings: Settings
    seats: tuple[LobbySeatEntry, ...]
    carried_bank: int | None
    hand_no: int | None
    playing: bool | None
    halted: str | None
    closing: bool
    closed: bool


class LobbyView(Struct, frozen=True, kw_only=True):
    """Open tables, the first opened first; `next` is the cursor of the page after these, or null."""

    tables: tuple[LobbyEntry, ...]
    next: str | None


def entry(table: LobbyTable) -> LobbyEntry:
    """What anyone may see of a table, field by field."""
    settings = table.settings
    is_open = settings.spectators and not settings.spectator_delay_ms
    return LobbyEntry(
        table_id=table.table_id,
        opened_ms=table.opened_ms,
        settings=settings,
        seats=tuple(LobbySeatEntry(seat=s.seat, player=s.player, sitting_out=s.sitting_out) for s in table.seats),
        carried_bank=table.carried_bank if is_open else None,
        hand_no=table.hand_no if is_open else None,
        playing=table.hand_id is not None if is_open else None,
        halted=table.halted,
        closing=table.closing,
        closed=table.closed,
    )


class LobbyReads(Struct, frozen=True):
    """How the lobby is read: where it is, what changed since, and the open tables."""

    vector: Callable[[], Awaitable[dict[int, int]]]
    changed: Callable[[Vector], Awaitable[tuple[tuple[LobbyTable, ...], dict[int, int]]]]
    open_tables: Callable[[int], Awaitable[tuple[tuple[LobbyTable, ...], str | None]]]


class Lobby:
    """One feed for all clients of this node; it reads only while somebody follows."""

    def __init__(self, reads: LobbyReads, clock: Clock, streams: Streams) -> None:
        self.linked = False
        """Whether wake-ups come at present."""
        self._reads = reads
        self._clock = clock
        self._streams = streams
        self._clients = 0
        self._closing = False
        self._vector: dict[int, int] | None = None
        self._beginning = asyncio.Lock()
        self._count = 0
        self._ring: deque[tuple[int, LobbyEntry]] = deque(maxlen=RING)
        self._moved = asyncio.Event()
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Something may have changed."""
        self._wake.set()

    def close(self) -> None:
        """Let every client go."""
        self._closing = True
        self._tell_clients()

    async def run(self) -> None:
        """Follow the projection until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S if self.linked else LOOK_ALONE_S):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._read_on()
            except Fault as fault:
                log.warning("lobby_waits", code=fault.code, detail=fault.detail)

    async def _read_on(self) -> None:
        if not self._clients:
            self._vector = None
        if self._vector is None:
            return  # the next client finds out where the lobby is, and then reads the open tables
        changed, self._vector = await self._reads.changed(self._vector)
        for table in changed:
            self._count += 1
            self._ring.append((self._count, entry(table)))
        if changed:
            self._tell_clients()

    def _tell_clients(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def follow(self, holder: Holder, expires_ms: int | None) -> AsyncGenerator[bytes]:
        """The stream: `snapshot`, then a `table` for each table that changes.

        Raises Fault or TooManyStreams, and that before the first message only.
        """
        with self._streams.held(holder):
            self._clients += 1
            try:
                # The place is taken before the tables are read: one that changes in between comes again, never not.
                async with self._beginning:
                    if self._vector is None:
                        self._vector = await self._reads.vector()
                place = self._count
                tables, more = await self._reads.open_tables(SNAPSHOT)
                shown = {table.table_id: entry(table) for table in tables}
                yield OPENING + message("snapshot", LobbyView(tables=tuple(shown.values()), next=more))
                async with aclosing(self._rest(place, shown, expires_ms)) as rest:
                    async for chunk in rest:
                        yield chunk
            finally:
                self._clients -= 1

    async def _rest(self, place: int, shown: dict[str, LobbyEntry], expires_ms: int | None) -> AsyncGenerator[bytes]:
        while (reason := self._reason_to_end(place, expires_ms)) is None:
            moved = self._moved
            news, place = self._news(place, shown), self._count
            if news:
                yield b"".join(message("table", each) for each in news)
                continue
            wait_s = PING_S if expires_ms is None else min(PING_S, (expires_ms - self._clock.now_ms()) / 1_000)
            try:
                async with asyncio.timeout(wait_s):
                    await moved.wait()
            except TimeoutError:
                if wait_s >= PING_S:
                    yield PING
        yield end(reason)

    def _reason_to_end(self, place: int, expires_ms: int | None) -> str | None:
        if self._closing:
            return "closing"
        if expires_ms is not None and self._clock.now_ms() >= expires_ms:
            return "token_expired"
        return "too_slow" if self._ring and self._ring[0][0] > place + 1 else None

    def _news(self, place: int, shown: dict[str, LobbyEntry]) -> list[LobbyEntry]:
        """What changed after `place` in a way that may be seen; one that may not is not told by its time either."""
        news = []
        for number, each in self._ring:
            if number <= place or shown.get(each.table_id) == each:
                continue
            news.append(each)
            if each.closed:
                shown.pop(each.table_id, None)
            else:
                shown[each.table_id] = each
        return news
