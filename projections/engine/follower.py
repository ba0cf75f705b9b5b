"""One generation of a projection on its way along the log: where it is, what waits, what it remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Generic

import msgspec
from msgspec import Struct

from infra.projection_store import Checkpoint, Definition, Parked, Retaken, RowWrite, Shape, StoredState, Work
from infra.projection_store.types import REASON_LENGTH, STATES
from projections.engine.log import KNOWN, Batch, Entry, Vector
from projections.engine.memory import Memory, Remembered
from projections.engine.types import CannotApply, Projection, S
from projections.engine.writes import Writes

NUMBERS = 200_000
"""Of so many streams the last number is remembered, so that a hole in one is seen."""


class Prepared(Struct, Generic[S]):
    """What a batch comes to for one projection: to be written, and remembered once it is."""

    work: Work
    states: dict[str, Remembered[S]]
    after: Vector


class Follower(Generic[S]):
    """A generation of a projection, its position `vector` and the streams `parked` there, as last committed.

    `serving` says whether the readers see its rows; `serve_at`, where it is not None, from which position on they may.
    `passed` counts the events that it has passed.
    """

    def __init__(
        self, projection: Projection[S], schema: str, shapes: Mapping[str, Shape], checkpoint: Checkpoint
    ) -> None:
        self.projection = projection
        self.schema = schema
        self.serving = True
        self.serve_at: Vector | None = None
        self.passed = 0
        self.vector = dict(checkpoint.vector)
        self.parked = dict(checkpoint.parked)
        self._shapes = {table: shape for table, shape in shapes.items() if table != STATES}
        self._memory = Memory(projection)
        # The last number met of each stream; of one that is not here 0, where the log is followed from its start.
        self._numbers: dict[str, int] = {}
        self._from_start = {part for part, pos in self.vector.items() if not pos}
        self.onward = False
        """Whether `prepare_again` left its stream in a state from which yet later events may make it good."""
        self._heals = frozenset(str(each.__struct_config__.tag) for each in projection.heals)
        self._passed_over = KNOWN - {str(each.__struct_config__.tag) for each in projection.handles}

    def wanted(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of `entries` that the projection handles. A type that this code does not know may be one, too."""
        passed_over, streams = self._passed_over, self.projection.streams
        return [e for e in entries if e.type not in passed_over and e.stream.startswith(streams)]

    def ready(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of `wanted(entries)` whose streams do not wait; and any after a hole in its stream, which then will."""
        wanted = self._after_holes(entries) or self.wanted(entries)
        return [e for e in wanted if e.stream not in self.parked] if self.parked else wanted

    def _after_holes(self, entries: Sequence[Entry]) -> list[Entry]:
        """Note the numbers of the next entries. Where a stream has a hole: those wanted, and those after a hole."""
        numbers, found = self._numbers, False
        if len(numbers) > NUMBERS:
            numbers.clear()
            self._from_start.clear()
        for entry in entries:
            stream, seq = entry.stream, entry.stored.seq
            last = numbers.get(stream)
            numbers[stream] = seq
            if last is None:
                last = 0 if entry.stored.part in self._from_start else seq
            if seq > last + 1 and stream.startswith(self.projection.streams):
                entry.missing, found = last + 1, True
        if not found:
            return []
        handled = {id(entry) for entry in self.wanted(entries)}
        return [entry for entry in entries if id(entry) in handled or entry.missing is not None]

    def healing(self, entries: Sequence[Entry]) -> list[Parked]:
        """The parked streams which an event among `entries` may make good."""
        if not self.parked or not self._heals:
            return []
        streams = {e.stream for e in entries if e.type in self._heals and e.stream in self.parked}
        return [self.parked[stream] for stream in sorted(streams)]

    def missing(self, ready: Sequence[Entry]) -> dict[str, int]:
        """The streams whose states must be read before `ready` can be applied, and the first number to apply."""
        return self._memory.missing(ready)

    def remember(self, stream: str, stored: StoredState | None, before: int, since: Sequence[Entry]) -> None:
        """Take in the stored state of a stream, and bring it up to before number `before` with the events `since`."""
        self._memory.take_in(stream, stored, before)
        run = _Run(self, 0)
        for entry in self.wanted(since):
            run.take(entry)
        if stream in run.parked:
            parked = run.parked[stream]
            self._memory.give_up(stream, f"not to be had from event {parked.seq}: {parked.code}: {parked.reason}")
        else:
            self._memory.put(run.states)

    def prepare(self, batch: Batch, ready: Sequence[Entry], now_ms: int) -> Prepared[S]:
        """Apply `batch` in memory: the rows to write, the streams to park. Nothing of the follower changes yet.

        `ready` are those of its events that are to be applied.
        """
        run = _Run(self, now_ms)
        run.take_all(ready)
        moves = {part: (batch.before[part], pos) for part, pos in batch.after.items()}
        return run.prepared(moves, parked=list(run.parked.values()), retaken=[])

    def prepare_again(self, parked: Parked, entries: Sequence[Entry], more: bool, now_ms: int) -> Prepared[S] | None:
        """Apply a parked stream's events from its first one on; None where it waits just as it did.

        `more` says that there may be further events which the projection has passed.
        """
        run = _Run(self, now_ms)
        if entries and entries[0].stored.seq != parked.seq:
            return None  # that number is missing in the log, as it was
        for before, entry in pairwise(entries):
            if entry.stored.seq != before.stored.seq + 1:
                entry.missing = before.stored.seq + 1
        for entry in self.wanted(entries):
            run.take(entry)
        again = run.parked.get(parked.stream)
        self.onward = run.goes_on(parked.stream)
        if again is None and more:
            again = msgspec.structs.replace(parked, seq=entries[-1].stored.seq + 1)
        elif again is not None:
            again = msgspec.structs.replace(again, since_ms=parked.since_ms)
        if again == parked:
            return None
        # The part stays where it is, and must be there: what another process has passed meanwhile, while the stream
        # waited, would be applied by nobody.
        stands = self.vector[parked.part]
        return run.prepared({parked.part: (stands, stands)}, [], [Retaken(parked.stream, parked.seq, again)])

    def refuse(self, batch: Batch, reason: str, now_ms: int) -> Prepared[S]:
        """Park the stream of a batch of one event, whose rows Postgres does not take."""
        (entry,) = batch.entries
        run = _Run(self, now_ms)
        run.park(entry, "rejected", reason)
        moves = {part: (batch.before[part], pos) for part, pos in batch.after.items()}
        return run.prepared(moves, list(run.parked.values()), [])

    def committed(self, prepared: Prepared[S]) -> None:
        """What was prepared is written: go on from there."""
        self.passed += sum(after - self.vector[part] for part, after in prepared.after.items())
        self.vector.update(prepared.after)
        if prepared.work.serve:
            self.serving, self.serve_at = True, None
        for parked in prepared.work.parked:
            self.parked[parked.stream] = parked
        for retaken in prepared.work.retaken:
            del self.parked[retaken.stream]
            if retaken.parked is not None:
                self.parked[retaken.stream] = retaken.parked
        self._memory.put(prepared.states)
        self._memory.trim()

    def remembered(self, stream: str) -> Remembered[S]:
        """The stream's state as last committed. Raises CannotApply where it could not be read."""
        return self._memory.get(stream)

    def due(self, states: dict[str, Remembered[S]]) -> list[RowWrite]:
        """The write of those of `states` that are due to be stored."""
        return self._memory.store(states)

    def serves_from(self, after: Mapping[int, int]) -> bool:
        """Whether the step to `after` brings it to where it may serve."""
        wanted = self.serve_at
        return wanted is not None and all(after.get(p, self.vector[p]) >= pos for p, pos in wanted.items())

    def begin(self) -> Writes:
        """No writes yet."""
        return Writes(self._shapes)


class _Run(Generic[S]):
    """Events being applied in memory, on top of what the follower has committed."""

    def __init__(self, follower: Follower[S], now_ms: int) -> None:
        self.parked: dict[str, Parked] = {}
        self.states: dict[str, Remembered[S]] = {}
        self._follower = follower
        self._projection = follower.projection
        self._writes = follower.begin()
        # Of streams that were parked in this run: the state from which later events may be tried.
        self._onward: dict[str, S] = {}
        self._now_ms = now_ms

    def take_all(self, entries: Sequence[Entry]) -> None:
        """Apply events. The same as `take` for each, but plain where all goes well, which is a sixth faster."""
        states, step, add, parked = self.states, self._projection.step, self._writes.add, self.parked
        for entry in entries:
            own = states.get(entry.stream)
            if own is None or parked or entry.missing is not None:
                self.take(entry)
                continue
            try:
                after, changes = step(own.state, entry.recorded())
                if changes:
                    add(changes)
            except Exception:  # noqa: BLE001  # it is taken again, and raises again, where that is told apart
                self.take(entry)
            else:
                own.state = after
                own.seq = entry.stored.seq
                own.unstored += 1

    def take(self, entry: Entry) -> None:
        """Apply one event, or park its stream; one that is parked may yet be made good by a later event."""
        stream = entry.stream
        if stream in self.parked and stream not in self._onward:
            return
        if entry.missing is not None:
            self._onward.pop(stream, None)
            if stream not in self.parked:
                self.park(entry, "stream_hole", f"the log has no event {entry.missing} of it", entry.missing)
            return
        try:
            own = self._own(stream)
            before = self._onward.pop(stream) if stream in self._onward else own.state
            after, changes = self._projection.step(before, entry.recorded())
            if changes:
                self._writes.add(changes)
        except CannotApply as problem:
            if stream not in self.parked:
                self.park(entry, problem.code, problem.reason)
            if problem.onward is not None:
                self._onward[stream] = problem.onward
        except Exception as error:  # noqa: BLE001  # whatever a step raises, its stream waits and the part goes on
            if stream not in self.parked:
                self.park(entry, "failed", f"{type(error).__name__}: {error}")
        else:
            self.parked.pop(stream, None)
            own.go_on(after, entry.stored.seq)

    def goes_on(self, stream: str) -> bool:
        """Whether a later event may make the parked stream good."""
        return stream in self._onward

    def _own(self, stream: str) -> Remembered[S]:
        own = self.states.get(stream)
        if own is None:
            own = self.states[stream] = self._follower.remembered(stream).copy()
        return own

    def park(self, entry: Entry, code: str, reason: str, seq: int | None = None) -> None:
        """Have the stream wait at this event, or at number `seq`."""
        stored = entry.stored
        reason = reason.replace("\0", "")[:REASON_LENGTH]
        at = stored.seq if seq is None else seq
        self.parked[stored.stream] = Parked(stored.stream, stored.part, at, code, reason, self._now_ms)

    def prepared(self, moves: dict[int, tuple[int, int]], parked: list[Parked], retaken: list[Retaken]) -> Prepared[S]:
        """All that the events came to."""
        reached = {part: after for part, (_, after) in moves.items()}
        work = Work(
            schema=self._follower.schema,
            moves=moves,
            writes=self._writes.statements() + self._follower.due(self.states),
            parked=parked,
            retaken=retaken,
            serve=self._follower.serves_from(reached),
        )
        return Prepared(work, self.states, reached)


def definition(projection: Projection[Any]) -> Definition:
    """The projection's version as the store makes it."""
    return Definition(projection.name, projection.version, projection.ddl)
