"""Applying batches: the rows of some generations and their checkpoints, in one transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from infra.metrics import PROJECTION_SECONDS
from infra.projection_store import Parked, ProjectionWriter, RowWrite, WriteRefused, WriteStale
from infra.tracing import Value, recording, span
from projections.engine.counting import count
from projections.engine.follower import Follower, Prepared
from projections.engine.log import Batch, Entry, Log
from projections.engine.types import Projection

AGAIN_EVENTS = 1_000
COMMANDS = 64
"""So many commands are named in the span of a batch."""

log = structlog.get_logger(__name__)

OnCommit = Callable[[Projection[Any], Sequence[RowWrite]], None]


class Applier:
    """Applies what is read of a log, over one writer.

    `on_commit` is told the rows of each batch of a generation that serves, where the batch is `live`.
    """

    def __init__(
        self, log: Log, writer: ProjectionWriter, on_commit: OnCommit = lambda projection, writes: None
    ) -> None:
        self._log = log
        self._writer = writer
        self._on_commit = on_commit

    async def apply(self, followers: list[Follower[Any]], batch: Batch, live: bool) -> None:
        """Apply a batch to followers that stand where it begins, in one transaction."""
        with span("project") as opened:
            if recording():
                opened.set(**_told(followers, batch))
            await self._apply(followers, batch, live)

    async def _apply(self, followers: list[Follower[Any]], batch: Batch, live: bool) -> None:
        began = time.monotonic()
        prepared = []
        for follower in followers:
            ready = follower.ready(batch.entries)
            await self._remember(follower, ready)
            prepared.append((follower, follower.prepare(batch, ready, now_ms())))
            await asyncio.sleep(0)
        try:
            await self._writer.apply([each.work for _, each in prepared])
        except WriteRefused as refused:
            await self._narrow_down(followers, batch, refused, live)
        else:
            PROJECTION_SECONDS.observe(time.monotonic() - began)
            for follower, each in prepared:
                self._committed(follower, each, live)
                for parked in follower.healing(batch.entries):
                    await self.take_up(follower, parked)

    def _committed(self, follower: Follower[Any], prepared: Prepared[Any], live: bool) -> None:
        follower.committed(prepared)
        name = follower.schema
        if follower.serving:
            count(follower.projection.name, prepared.work)
        for parked in prepared.work.parked:
            log.error("stream_parked", projection=name, stream=parked.stream, seq=parked.seq, code=parked.code)
        for retaken in prepared.work.retaken:
            if retaken.parked is None:
                log.info("stream_resumed", projection=name, stream=retaken.stream, seq=retaken.seq)
        if live and follower.serving:
            self._on_commit(follower.projection, prepared.work.writes)

    async def _narrow_down(
        self,
        followers: list[Follower[Any]],
        batch: Batch,
        refused: WriteRefused,
        live: bool,
    ) -> None:
        """Postgres does not take a row: find the projection and the event that it comes of, and park its stream.

        Raises WriteStale where the batch was applied before, by another process or by a commit whose answer was lost:
        its rows are there, and that is why they are not taken.
        """
        for follower in followers:
            stands = (await self._writer.checkpoint(follower.schema)).vector
            if any(stands[part] != follower.vector[part] for part in batch.before):
                raise WriteStale(f"{follower.schema} is not where this work begins")
        if len(followers) > 1:
            for follower in followers:
                await self.apply([follower], batch, live)
        elif len(batch.entries) > 1:
            middle = len(batch.entries) // 2
            for half in (batch.entries[:middle], batch.entries[middle:]):
                await self.apply(followers, Batch(half), live)
        else:
            follower = followers[0]
            parked = follower.refuse(batch, refused.reason, now_ms())
            await self._writer.apply([parked.work])
            self._committed(follower, parked, live)

    async def _remember(self, follower: Follower[Any], ready: Sequence[Entry]) -> None:
        """Have the states that `ready` needs in memory, each as of the event before the first to apply."""
        missing = follower.missing(ready)
        if not missing:
            return
        stored = await self._writer.states(follower.schema, list(missing))

        async def one(stream: str, before: int) -> None:
            state = stored.get(stream)
            since = await self._log.read_between(stream, 0 if state is None else state.seq, before)
            follower.remember(stream, state, before, since)

        await asyncio.gather(*(one(stream, before) for stream, before in missing.items()))

    async def take_up_parked(self, follower: Follower[Any]) -> None:
        """Try all its parked streams again."""
        for parked in list(follower.parked.values()):
            await self.take_up(follower, parked)

    async def take_up(self, follower: Follower[Any], parked: Parked) -> None:
        """Try a parked stream again, as far as the projection has passed it; where it still fails, it waits on."""
        limit, refused = AGAIN_EVENTS, False
        while True:
            entries = await self._log.read_stream(parked.stream, parked.seq, follower.vector[parked.part], limit)
            await self._remember(follower, follower.wanted(entries))
            prepared = follower.prepare_again(parked, entries, len(entries) == limit, now_ms())
            if prepared is None:
                if follower.onward and len(entries) == limit and not refused:
                    limit *= 2  # what makes it good may come later than this
                    continue
                return
            try:
                await self._writer.apply([prepared.work])
            except WriteRefused:
                if len(entries) <= 1:
                    return
                limit, refused = len(entries) // 2, True
                continue
            self._committed(follower, prepared, live=False)
            after = follower.parked.get(parked.stream)
            if after is None or after.seq == parked.seq:
                return
            parked = after


def _told(followers: Sequence[Follower[Any]], batch: Batch) -> dict[str, Value]:
    """What a span says of a batch: by a command's id the span of its append, in whatever process, is found."""
    commands = dict.fromkeys(entry.stored.command_id.hex() for entry in batch.entries)
    projections = [follower.schema for follower in followers]
    return {"projections": projections, "events": len(batch.entries), "commands": list(commands)[:COMMANDS]}


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
