"""Keeps the projections of one process: who holds their leases applies, a batch a transaction, from the checkpoint."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog

from infra.faults import Fault
from infra.leases import LEASE_S, Leases
from infra.projection_store import Generation, ProjectionWriter, Stopped, WriteBroken, WriteStale
from infra.witness import Ahead, missing
from projections.engine.applying import Applier, OnCommit, now_ms
from projections.engine.follower import Follower, definition
from projections.engine.log import Batch, Log
from projections.engine.tail import Tail
from projections.engine.types import Projection

LINGER_MS = 10
BUSY_LINGER_MS = 80
"""So long at least between two transactions; twice as long each time that more has come meanwhile, up to the second.
Most of what a transaction costs, here and in Postgres, is the same for one event and for 100, and at 10 ms a
transaction the projections cost as much as the play that they follow."""
TAKE = 2_000
CATCH_UP = 2_000
"""Events a batch; 2,000 take about 20 ms of this process in memory, for which nothing else runs in it."""
IDLE_MS = 250
SHARE_S = LEASE_S / 3
"""How often the processes share out anew what is to be kept."""
AGAIN_S = 30.0
"""How often parked streams are tried again, besides on start."""
AGAIN_FOR_S = 0.1
"""So long at most at a time: one takes 1 to 10 ms, and where an older program meets a newer one's events there may be
thousands, for which what serves stood still for longer than a lease lasts."""
RECONNECT_S = (0.1, 2.0)

log = structlog.get_logger(__name__)

OnLease = Callable[[str, bool], None]


class Projector:
    """Brings the generations of `projections` up to date and keeps them there; `run` until cancelled.

    Which of them this process keeps, the leases say that all such processes share. `on_commit` is told the rows of each
    committed batch of a generation that serves, once that follows the tail; `on_lease` whether this process holds the
    lease of each of `others`, further names that it shares.
    """

    def __init__(
        self,
        url: str,
        log: Log,
        tail: Tail,
        projections: Sequence[Projection[Any]],
        others: Sequence[str] = (),
        on_commit: OnCommit = lambda projection, writes: None,
        on_lease: OnLease = lambda name, held: None,
    ) -> None:
        self._url = url
        self._log = log
        self._tail = tail
        self._projections = projections
        self._others = others
        self._on_commit = on_commit
        self._on_lease = on_lease
        self._leases = Leases(url, first=others)
        self._shared_s = 0.0
        self._unbuilt: set[str] = set()
        self._followers: list[Follower[Any]] = []
        # Generations that cannot be written, and until when nobody tries.
        self._aside: dict[str, float] = {}
        self._stopped: dict[int, Stopped] = {}

    async def run(self) -> None:
        """Keep the projections for ever. Raises Fault("projection_changed"), which does not pass by waiting."""
        delay_s = RECONNECT_S[0]
        try:
            while True:
                try:
                    writer = await ProjectionWriter.connect(self._url)
                    try:
                        delay_s = RECONNECT_S[0]
                        await self._keep(writer)
                    finally:
                        await writer.close()
                except Fault as fault:
                    if fault.code != "store_unavailable":
                        raise
                    log.warning("projector_waits", code=fault.code, detail=fault.detail)
                except WriteStale as stale:
                    # Our lease ran out unnoticed (a process that was stopped for a while), or the rows were dropped.
                    log.warning("projector_overtaken", detail=str(stale))
                await asyncio.sleep(delay_s)
                delay_s = min(delay_s * 2, RECONNECT_S[1])
        finally:
            await self._leases.close()

    async def _keep(self, writer: ProjectionWriter) -> None:
        """Work on one connection, until it is lost."""
        await writer.define([definition(each) for each in self._projections], await self._log.heads())
        self._followers = []
        self._stopped = {stopped.part: stopped for stopped in await writer.stopped()}
        applier = Applier(self._log, writer, self._on_commit)
        share_at = again_at = 0.0
        waiting: deque[tuple[Follower[Any], str]] = deque()
        linger_ms = LINGER_MS
        while True:
            began = time.monotonic()
            if began >= share_at:
                share_at = began + SHARE_S
                if await self._share(writer):
                    again_at = began
                    waiting.clear()
            if began >= again_at and not waiting:
                again_at = began + AGAIN_S
                waiting.extend((each, stream) for each in self._followers for stream in each.parked)
            await self._take_up(applier, writer, waiting)
            await self._note_holes(writer)
            count = await self._round(applier, writer)
            linger_ms = min(2 * linger_ms, BUSY_LINGER_MS) if count else LINGER_MS
            if waiting and not count:
                continue
            if not count:
                await self._arrival()
            elif not self._behind():
                await asyncio.sleep(max(0.0, began + linger_ms / 1000 - time.monotonic()))

    async def _take_up(
        self, applier: Applier, writer: ProjectionWriter, waiting: deque[tuple[Follower[Any], str]]
    ) -> None:
        """Try the first of the `waiting` streams again, as many as there is time for."""
        until = time.monotonic() + AGAIN_FOR_S
        while waiting:
            follower, stream = waiting.popleft()
            parked = follower.parked.get(stream)
            if parked is not None and follower in self._followers:
                try:
                    await applier.take_up(follower, parked)
                except WriteBroken as broken:
                    await self._set_aside(writer, follower, broken.reason)
                if time.monotonic() >= until:
                    return

    async def _arrival(self) -> None:
        try:
            async with asyncio.timeout(IDLE_MS / 1000):
                await self._tail.arrived.wait()
        except TimeoutError:
            pass

    async def _share(self, writer: ProjectionWriter) -> bool:
        """Share out with the other processes what is to be kept; whether there is one more generation to keep here."""
        generations = await writer.generations()
        able = {g.schema: (g, projection) for g in generations if (projection := self._known(g)) is not None}
        self._tell_of_unbuilt(generations)
        self._aside = {schema: until for schema, until in self._aside.items() if time.monotonic() < until}
        for schema in self._aside:
            able.pop(schema, None)
        held = await self._leases.share([*able, *self._others], self._rates())
        for name in self._others:
            self._on_lease(name, name in held)
        self._followers = [each for each in self._followers if each.schema in able and each.schema in held]
        kept = {follower.schema: follower for follower in self._followers}
        found = False
        served = {g.name for g in generations if g.serving}
        for schema, (generation, projection) in able.items():
            if schema in held and schema not in kept:
                kept[schema] = await self._follow(writer, projection, generation, first=generation.name not in served)
                found = True
            if schema in held:
                kept[schema].serving = generation.serving
        return found

    def _known(self, generation: Generation) -> Projection[Any] | None:
        """The code that keeps up this generation, if it is to be kept up and this program has it."""
        if generation.state != "following":
            return None
        which = (generation.name, generation.version)
        return next((each for each in self._projections if (each.name, each.version) == which), None)

    def _tell_of_unbuilt(self, generations: Sequence[Generation]) -> None:
        """A version is not made here but by `khrap projections rebuild`, beside the one that serves."""
        made = {(g.name, g.version) for g in generations}
        for each in self._projections:
            if (each.name, each.version) not in made and each.schema not in self._unbuilt:
                self._unbuilt.add(each.schema)
                log.warning("projection_not_built", projection=each.name, version=each.version)

    async def _follow(
        self, writer: ProjectionWriter, projection: Projection[Any], generation: Generation, *, first: bool
    ) -> Follower[Any]:
        """Take up a generation where it stands; `first`: none of its name serves, so it will, once it is at the end.

        Raises Fault(`log_restored`) where the log does not reach so far.
        """
        schema = generation.schema
        checkpoint = await writer.checkpoint(schema)
        heads = await self._log.heads()
        refuse_ahead(schema, checkpoint.vector, heads)
        if generation.refused is not None:
            await writer.note(schema, None)
        follower = Follower(projection, schema, await writer.shapes(schema), checkpoint)
        if first and not generation.served:
            follower.serve_at = heads
            if follower.serves_from({}):
                await writer.serve_first(schema)
                follower.serve_at = None
        self._followers.append(follower)
        return follower

    def _rates(self) -> dict[str, int]:
        """Events a second that each generation has passed since it was last asked."""
        now = time.monotonic()
        seconds, self._shared_s = now - self._shared_s, now
        rates = {}
        for follower in self._followers:
            rates[follower.schema] = round(follower.passed / seconds)
            follower.passed = 0
        return rates

    async def _note_holes(self, writer: ProjectionWriter) -> None:
        holes = self._log.holes
        for part in holes.keys() - self._stopped.keys():
            stopped = Stopped(part, holes[part].pos, holes[part].reason, now_ms())
            await writer.stop_part(stopped)
            self._stopped[part] = stopped
        passed = [
            part
            for part, stopped in self._stopped.items()
            if part not in holes and self._followers and all(f.vector[part] > stopped.pos for f in self._followers)
        ]
        for part in passed:
            await writer.resume_part(part)
            del self._stopped[part]

    def _behind(self) -> list[Follower[Any]]:
        """Those that do not stand where the tail holds its events."""
        return [each for each in self._followers if each.vector != self._tail.base]

    async def _apply(
        self, applier: Applier, writer: ProjectionWriter, followers: list[Follower[Any]], batch: Batch, live: bool
    ) -> None:
        """Apply a batch. A generation that cannot be written is set aside, so that it stops no other."""
        try:
            await applier.apply(followers, batch, live)
        except WriteBroken as broken:
            if len(followers) == 1:
                await self._set_aside(writer, followers[0], broken.reason)
                return
            for each in followers:
                if all(each.vector[part] == pos for part, pos in batch.before.items()):
                    await self._apply(applier, writer, [each], batch, live)

    async def _set_aside(self, writer: ProjectionWriter, follower: Follower[Any], why: str) -> None:
        """Let go of a generation that cannot be written, say why, and leave it to be tried again later, by anyone."""
        log.error("projection_damaged", projection=follower.schema, detail=why)
        self._followers.remove(follower)
        self._aside[follower.schema] = time.monotonic() + AGAIN_S
        await writer.note(follower.schema, why)

    async def _round(self, applier: Applier, writer: ProjectionWriter) -> int:
        """One step for every follower; how many events there were.

        Those that stand where the tail holds its events share them; the others read up to there by themselves.
        """
        there = [each for each in self._followers if each.vector == self._tail.base]
        count = 0
        if not there:
            self._tail.let_go()
        elif (batch := self._tail.take(TAKE)) is not None:
            await self._apply(applier, writer, there, batch, live=True)
            count += len(batch.entries)
        behind = self._behind()
        while behind:
            together = [each for each in behind if each.vector == behind[0].vector]
            behind = [each for each in behind if each not in together]
            batch = await self._log.read(together[0].vector, CATCH_UP, upto=self._tail.base)
            if batch.entries:
                await self._apply(applier, writer, together, batch, live=False)
                count += len(batch.entries)
        return count


def refuse_ahead(schema: str, vector: Mapping[int, int], heads: Mapping[int, int]) -> None:
    """Raises Fault(`log_restored`) where a generation has passed events that the log does not have."""
    lost = missing(vector, heads)
    if lost:
        raise Ahead(schema, lost).fault()
