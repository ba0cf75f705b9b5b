"""Walking the log: is it what was written? DESIGN "The event store", promise 4, and "Audit".

Finds a changed, removed, added or moved event, and counters that do not agree with the events. It cannot find a stream
cut off together with its head, or one that was hashed anew to its end: signed checkpoints that are kept elsewhere can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import args_row

from infra.store.chain import event_hash, part_of
from infra.store.queries import query
from infra.store.types import GENESIS, StoredEvent, StreamHead

HEADS = query("heads")
HEADS_OF_PART = query("heads_of_part")
PART_HEAD = query("part_head")
READ_STREAM = query("read_stream")
WALK_PART = query("walk_part")

BATCH = 2_000


class Broken(Struct, frozen=True):
    """The first thing that is wrong in a part: at which event (`pos` 0: at a counter), and what."""

    part: int
    pos: int
    stream: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"part {self.part} position {self.pos}, {self.stream or 'no stream'} event {self.seq}: {self.what}"


class Walked(Struct, frozen=True):
    """What a walk has seen, and the first thing wrong in each part where something is, in order of part."""

    events: int
    streams: int
    broken: tuple[Broken, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.broken


class PartWalk:
    """One part's walk, in order of position. `take` each event, then `finish` with the part's counters."""

    def __init__(self, part: int, parts: int) -> None:
        self._part = part
        self._parts = parts
        self.pos = 0
        self.heads: dict[str, StreamHead] = {}
        self.broken: Broken | None = None

    def take(self, event: StoredEvent) -> None:
        """Check the next event. After the first wrong one nothing is checked."""
        if self.broken is None:
            what = self._wrong(event)
            if what is not None:
                self.broken = Broken(self._part, event.pos, event.stream, event.seq, what)
            self.pos = event.pos
            self.heads[event.stream] = StreamHead(event.stream, event.seq, event.hash)

    def _wrong(self, event: StoredEvent) -> str | None:
        if event.pos != self.pos + 1:
            return f"position {self.pos + 1} is missing"
        if event.part != part_of(event.stream, self._parts):
            return f"the stream belongs to part {part_of(event.stream, self._parts)}"
        head = self.heads.get(event.stream)
        seq, previous = (0, GENESIS) if head is None else (head.seq, head.hash)
        return wrong_after(seq, previous, event)

    def finish(self, last_pos: int, heads: list[StreamHead]) -> None:
        """Compare the part's counter and its streams' heads with the events."""
        if self.broken is not None:
            return
        if last_pos != self.pos:
            self.broken = Broken(self._part, 0, "", 0, f"the part's counter is {last_pos}, its last event {self.pos}")
            return
        stored = {head.stream: head for head in heads}
        for stream in sorted(self.heads.keys() | stored.keys()):
            if self.heads.get(stream) != stored.get(stream):
                walked, kept = self.heads.get(stream), stored.get(stream)
                self.broken = Broken(
                    self._part,
                    0,
                    stream,
                    0 if walked is None else walked.seq,
                    _disagreement(kept, walked),
                )
                return


def wrong_after(seq: int, previous: bytes, event: StoredEvent) -> str | None:
    """What is wrong with an event that should follow number `seq` with the hash `previous`; None if nothing is."""
    if event.seq != seq + 1:
        return f"event {seq + 1} of the stream is missing"
    expected = event_hash(
        previous,
        event.stream,
        event.seq,
        event.type,
        event.version,
        event.command_id,
        event.idx,
        event.body,
        event.meta,
    )
    return None if event.hash == expected else "the hash does not fit the event and the one before"


async def walk_part(
    connection: AsyncConnection[Any], part: int, parts: int, progress: Callable[[int], None]
) -> PartWalk:
    """Walk a part, as it stood at one moment. `progress` is told how many events were read since it was last told."""
    walk = PartWalk(part, parts)
    events = connection.cursor(binary=True, row_factory=args_row(StoredEvent))
    counters = connection.cursor(binary=True)
    async with connection.transaction():
        await connection.execute("set transaction isolation level repeatable read, read only")
        pos = 0
        while True:
            await events.execute(WALK_PART, (part, pos, BATCH), prepare=True)
            batch = await events.fetchall()
            for event in batch:
                walk.take(event)
            progress(len(batch))
            if len(batch) < BATCH:
                break
            pos = batch[-1].pos
        await counters.execute(PART_HEAD, (part,), prepare=True)
        row = await counters.fetchone()
        await counters.execute(HEADS_OF_PART, (part,), prepare=True)
        heads = [StreamHead(*head) for head in await counters.fetchall()]
        walk.finish(-1 if row is None else row[0], heads)
    return walk


async def walk_stream(connection: AsyncConnection[Any], part: int, stream: str) -> Broken | None:
    """Walk a stream, as it stood at one moment, and compare its head; the first thing that is wrong, or None."""
    events = connection.cursor(binary=True, row_factory=args_row(StoredEvent))
    heads = connection.cursor(binary=True)
    walked = StreamHead(stream, 0, GENESIS)
    async with connection.transaction():
        await connection.execute("set transaction isolation level repeatable read, read only")
        while True:
            await events.execute(READ_STREAM, (part, stream, walked.seq, BATCH), prepare=True)
            batch = await events.fetchall()
            for event in batch:
                what = wrong_after(walked.seq, walked.hash, event)
                if what is not None:
                    return Broken(part, event.pos, stream, event.seq, what)
                walked = StreamHead(stream, event.seq, event.hash)
            if len(batch) < BATCH:
                break
        await heads.execute(HEADS, ([part], [stream]), prepare=True)
        row = await heads.fetchone()
    kept = StreamHead(stream, 0, GENESIS) if row is None else StreamHead(*row)
    return None if walked == kept else Broken(part, 0, stream, walked.seq, _disagreement(kept, walked))


def _disagreement(kept: StreamHead | None, walked: StreamHead | None) -> str:
    return f"the stream's head says {_text(kept)}, its last event is {_text(walked)}"


def _text(head: StreamHead | None) -> str:
    return "nothing" if head is None else f"{head.seq} with hash {head.hash.hex()}"
