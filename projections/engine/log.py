"""Batches of the log: each event decoded at most once, and only if some projection wants it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import structlog
from msgspec import Struct

from domain.events import EVENTS, Event
from infra.codec import UnknownEvent
from infra.faults import Fault
from infra.store import EventStore, StoredEvent, StoreGap
from projections.engine.types import CannotApply, Recorded

Decode = Callable[[StoredEvent], Event]
"""From a stored event to its public form."""

Vector = dict[int, int]
"""A position in the log: part → the last position read there."""

KNOWN = frozenset(str(each.__struct_config__.tag) for each in EVENTS)
"""The event types that this code has; what is not among them parks a stream."""

AGAIN_S = 5.0
"""How often a part with a hole is tried again."""

log = structlog.get_logger(__name__)


class Entry(Struct, eq=False, gc=False):
    """An event of a batch. It is decoded when a projection first asks, and all projections share what came out.

    `missing` is the number that the stream lacks before this event.
    """

    stored: StoredEvent
    stream: str
    type: str
    decode: Decode
    missing: int | None = None
    read: Recorded | CannotApply | None = None

    def recorded(self) -> Recorded:
        """The decoded event. Raises CannotApply, each time anew, where this code cannot decode it."""
        read = self.read
        if read is None:
            read = self.read = self._read()
        if type(read) is Recorded:
            return read
        assert isinstance(read, CannotApply)
        raise CannotApply(read.code, read.reason)

    def _read(self) -> Recorded | CannotApply:
        stored = self.stored
        try:
            # In the order of its fields: by name it took three times as long.
            return Recorded(
                self.stream,
                stored.seq,
                stored.part,
                stored.pos,
                stored.command_id,
                self.decode(stored),
                stored.meta,
            )
        except UnknownEvent as error:
            return CannotApply("unknown_event", error.detail)
        except Fault as fault:
            return CannotApply("undecodable", fault.detail)
        except Exception as error:  # noqa: BLE001  # whatever a damaged body raises, the stream waits and the part goes on
            return CannotApply("undecodable", f"{type(error).__name__} in {stored.type} {stored.version}")


class Batch:
    """Events of several parts, each part's in order; the log between the vectors `before` and `after`.

    The vectors hold the parts that have events here.
    """

    __slots__ = ("after", "before", "entries")

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.before: Vector = {}
        self.after: Vector = {}
        last: StoredEvent | None = None
        for entry in entries:
            stored = entry.stored
            if last is None or stored.part != last.part:
                if last is not None:
                    self.after[last.part] = last.pos
                self.before.setdefault(stored.part, stored.pos - 1)
            last = stored
        if last is not None:
            self.after[last.part] = last.pos

    @classmethod
    def joined(cls, batches: Iterable[Batch]) -> Batch:
        """Batches that follow one another, as one."""
        return cls([entry for batch in batches for entry in batch.entries])


class Hole(Struct, frozen=True):
    """A part that cannot be read on: after `pos` a number is missing. `again_s` is when it is tried again."""

    pos: int
    reason: str
    again_s: float


class Log:
    """The event store as projections read it. A part with a hole is read up to it, and no further; the others go on."""

    def __init__(self, store: EventStore, decode: Decode) -> None:
        self._store = store
        self._decode = decode
        self.holes: dict[int, Hole] = {}

    async def heads(self) -> Vector:
        """The end of the log: the last position of every part."""
        return dict(await self._store.part_heads())

    async def read(self, vector: Mapping[int, int], limit: int, upto: Mapping[int, int] | None = None) -> Batch:
        """About `limit` events after `vector`, of its parts alone, and none past `upto` where it is given."""
        wanted = vector if upto is None else {p: pos for p, pos in vector.items() if pos < upto[p]}
        if self.holes:
            wanted = {p: pos for p, pos in wanted.items() if not self._stopped(p, pos)}
        events: list[StoredEvent] = []
        while wanted:
            try:
                events = await self._store.read_parts(wanted, limit)
                break
            except StoreGap as gap:
                self._stop(gap)
                before = wanted[gap.part]
                wanted = {p: pos for p, pos in wanted.items() if p != gap.part}
                if before < gap.pos:
                    events = await self._store.read_parts({gap.part: before}, gap.pos - before)
                    break
        if self.holes:
            self._heal(events)
        return self.batch(events if upto is None else [e for e in events if e.pos <= upto[e.part]])

    def _stopped(self, part: int, pos: int) -> bool:
        hole = self.holes.get(part)
        return hole is not None and pos >= hole.pos and time.monotonic() < hole.again_s

    def _stop(self, gap: StoreGap) -> None:
        if gap.part not in self.holes:
            log.error("part_stopped", part=gap.part, pos=gap.pos, detail=gap.detail)
        self.holes[gap.part] = Hole(gap.pos, gap.detail, time.monotonic() + AGAIN_S)

    def _heal(self, events: list[StoredEvent]) -> None:
        for event in events:
            hole = self.holes.get(event.part)
            if hole is not None and event.pos == hole.pos + 1:
                log.info("part_resumed", part=event.part)
                del self.holes[event.part]

    def batch(self, events: Sequence[StoredEvent]) -> Batch:
        """A batch of events that were read otherwise."""
        return Batch(self._entries(events))

    def _entries(self, events: Iterable[StoredEvent]) -> list[Entry]:
        decode = self._decode
        return [Entry(each, each.stream, each.type, decode) for each in events]

    async def read_stream(self, stream: str, seq: int, upto: int, limit: int) -> list[Entry]:
        """The events of a stream from number `seq` on whose position in their part is at most `upto`."""
        events = await self._store.read_stream(stream, seq - 1, limit)
        return self._entries(each for each in events if each.pos <= upto)

    async def read_between(self, stream: str, after: int, before: int) -> list[Entry]:
        """The events of a stream between these numbers, both left out."""
        if before - after <= 1:
            return []
        return self._entries(await self._store.read_stream(stream, after, before - after - 1))
