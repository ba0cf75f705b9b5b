"""One client at one table: a snapshot or a replay, then every event once, in order, until the stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

from msgspec import Struct

from domain.halves import private_half
from domain.table import Table
from infra.faults import Fault
from services.live.feed import RING, Feed
from services.live.hub import Hub
from services.live.messages import OPENING, PING, end, message, step_message
from services.live.sight import seated
from services.live.streams import Holder
from services.play.types import Step

PING_S = 15.0
REPLAY = 1_000
"""A player who has missed more events than this gets a new snapshot, a spectator who has missed more than `RING`; who
falls behind so far while he listens is let go."""
BATCH = 128

Snapshot = Callable[[str, int, Table, str | None], Any]
"""(table_id, version, table, player) → the player's whole view, or a spectator's where it is None."""


class NoSuchTable(Exception):
    """There is no such table, or not yet for this audience."""


class Audience(Struct, frozen=True, kw_only=True):
    """Who listens: his name where he is a player, what his streams are counted under, when his token ends."""

    player: str | None
    holder: Holder
    expires_ms: int | None


async def follow(
    hub: Hub, table_id: str, audience: Audience, after: int | None, snapshot: Snapshot
) -> AsyncGenerator[bytes]:
    """The stream of a table from event `after` on, which the client has, or from a snapshot.

    Raises NoSuchTable, NoSpectators, TooManyStreams or Fault, and that before the first message only.
    """
    with hub.streams.held(audience.holder):
        async with hub.following(table_id) as feed:
            if feed is None:
                raise NoSuchTable
            follower = _Follower(hub, feed, audience)
            yield OPENING + await follower.opening(after, snapshot)
            async with aclosing(follower.rest()) as rest:
                async for chunk in rest:
                    yield chunk


class _Follower:
    """A place in a feed: `seq` is what the client has, `waiting` what is read but may not be seen yet."""

    def __init__(self, hub: Hub, feed: Feed, audience: Audience) -> None:
        self._hub = hub
        self._feed = feed
        self._player = audience.player
        self._expires_ms = audience.expires_ms
        self._seq = 0
        self._was_seated = False
        self._waiting: list[Step] = []

    async def opening(self, after: int | None, snapshot: Snapshot) -> bytes:
        """The snapshot, or nothing where the client goes on from `after`."""
        hub, table_id = self._hub, self._feed.table_id
        found = await hub.sight.seen(table_id, self._player, hub.clock.now_ms())
        if found is None:
            raise NoSuchTable
        version, table = found
        if after is not None and await self._resumes(after, version, table):
            return b""
        self._seq, self._was_seated = version, seated(table, self._player)
        return message("snapshot", snapshot(table_id, version, table, self._player), version)

    async def _resumes(self, after: int, version: int, table: Table) -> bool:
        """Whether the client can go on from `after`, where he may see `table` at `version`.

        Nothing past `version` is looked at: a delayed spectator is answered alike whether there is such an event or
        not. One who has seen more, since he sat there, begins anew with the snapshot, and at once sees again what
        happened while he sat.
        """
        reach = REPLAY if seated(table, self._player) else RING
        if not version - reach <= after <= version:
            return False
        try:
            # One step before, so that it is known whether he sat there at `after`.
            steps = await self._hub.past.after(self._feed.table_id, max(after - 1, 0), version)
        except Fault as fault:
            if fault.code != "seal_broken":
                raise
            # S7: what lies before the loss of a key is told to nobody again.
            return False
        was_seated = bool(steps) and steps[0].seq == after and seated(steps[0].after, self._player)
        steps = [s for s in steps if s.seq > after]
        if not self._feed.table.settings.spectators and not _sat_through(steps, was_seated, self._player):
            return False
        self._seq, self._was_seated, self._waiting = after, was_seated, steps
        return True

    async def rest(self) -> AsyncGenerator[bytes]:
        """What follows the opening."""
        now_s = asyncio.get_running_loop().time
        ping_s = now_s() + PING_S
        while (reason := self._reason_to_end()) is None:
            # Taken before looking: what comes between the look and the wait ends the wait at once.
            moved = self._feed.moved
            try:
                await self._read_on()
            except Fault:
                yield end("unavailable")
                return
            ready, wait_s = self._take()
            if ready:
                yield b"".join(self._shown(step) for step in ready)
                if ready[-1].after.closed:
                    reason = "table_closed"
                    break
                ping_s = now_s() + PING_S
                continue
            # By the time since the last word and not since the last wake-up, which tells what may not be seen yet.
            if now_s() >= ping_s:
                yield PING
                ping_s = now_s() + PING_S
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait_s, ping_s - now_s())):
                    await moved.wait()
            if not self._was_seated:
                await asyncio.sleep(0)  # after those who play: their streams, and the answers to what they do
        yield end(reason)

    def _shown(self, step: Step) -> bytes:
        player = self._player
        if player is None or not (seated(step.after, player) or private_half(step.after, step.event, player)):
            return self._feed.public(step)
        return step_message(step, player)

    def _reason_to_end(self) -> str | None:
        if self._hub.closing.is_set():
            return "closing"
        if self._expires_ms is not None and self._hub.clock.now_ms() >= self._expires_ms:
            return "token_expired"
        here = self._was_seated or seated(self._feed.table, self._player)
        if not here and not self._feed.table.settings.spectators:
            return "no_spectators"
        on_time = here or not self._feed.table.settings.spectator_delay_ms
        return "too_slow" if on_time and self._feed.head - self._seq > REPLAY else None

    async def _read_on(self) -> None:
        if not self._waiting:
            steps = self._feed.after(self._seq, BATCH)
            if steps is None:
                upto = min(self._seq + BATCH, self._feed.head)
                steps = await self._hub.past.after(self._feed.table_id, self._seq, upto)
            self._waiting = steps

    def _take(self) -> tuple[list[Step], float]:
        """What may be seen now, in order, or how long to wait, in seconds."""
        now_ms = self._hub.clock.now_ms()
        wait_s = PING_S
        if self._expires_ms is not None:
            wait_s = min(wait_s, (self._expires_ms - now_ms) / 1_000)
        ready: list[Step] = []
        for step in self._waiting[:BATCH]:
            due_ms = self._due_ms(step)
            if due_ms is None or due_ms > now_ms:
                if due_ms is not None:
                    wait_s = min(wait_s, (due_ms - now_ms) / 1_000)
                break
            ready.append(step)
            self._seq, self._was_seated = step.seq, seated(step.after, self._player)
        del self._waiting[: len(ready)]
        return ready, wait_s

    def _due_ms(self, step: Step) -> int | None:
        """When `step` may be seen: at once by who sat there before it, after it or now; None where never."""
        here = self._was_seated or seated(step.after, self._player) or seated(self._feed.table, self._player)
        if here:
            return step.at_ms
        settings = self._feed.table.settings
        return step.at_ms + settings.spectator_delay_ms if settings.spectators else None


def _sat_through(steps: list[Step], was_seated: bool, player: str | None) -> bool:
    """Whether `player` sat at the table before or after each of these steps."""
    for step in steps:
        sits = seated(step.after, player)
        if not (was_seated or sits):
            return False
        was_seated = sits
    return True
