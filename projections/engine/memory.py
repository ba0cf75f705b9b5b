"""What a projection remembers of the streams that it met lately.

A state is stored at every 64th event of its stream, not with every batch: a batch of 300 events is of some 60 streams,
and to write 60 states of 3 kB took Postgres 10 ms, more than all rows together. What a restart finds is at most so many
events old, and calling the step again for these gives the state once more, since a step is a function of its arguments.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Generic

import msgspec

from infra.projection_store import RowWrite, StoredState
from infra.projection_store.types import STATES
from projections.engine.log import Entry
from projections.engine.types import CannotApply, Projection, S

STORE_EVERY = 64
REMEMBERED = 10_000
"""So many streams' states are kept in memory."""


class Remembered(Generic[S]):
    """A stream's state after its event `seq`; `unstored` counts the events since it was stored."""

    __slots__ = ("seq", "state", "unstored")

    def __init__(self, state: S, seq: int, unstored: int) -> None:
        self.state = state
        self.seq = seq
        self.unstored = unstored

    def copy(self) -> Remembered[S]:
        """One that can go on by itself."""
        return Remembered(self.state, self.seq, self.unstored)

    def go_on(self, state: S, seq: int) -> None:
        """The state after one more event."""
        self.state = state
        self.seq = seq
        self.unstored += 1


class Memory(Generic[S]):
    """States as last committed."""

    def __init__(self, projection: Projection[S]) -> None:
        self._initial = projection.initial
        self._stateless = projection.state is None
        form = None if projection.state is None else projection.state | None
        self._decoder: msgspec.json.Decoder[S | None] = msgspec.json.Decoder(form)
        self._states: OrderedDict[str, Remembered[S]] = OrderedDict()
        self._unreadable: dict[str, str] = {}

    def missing(self, entries: Sequence[Entry]) -> dict[str, int]:
        """The streams whose states must be read before `entries` can be applied, and the first number there is of each.

        A stream's first event needs no state.
        """
        if self._stateless:
            return {}
        missing: dict[str, int] = {}
        unknown = {entry.stream for entry in entries} - self._states.keys()
        if not unknown:
            return missing
        for entry in entries:
            stream = entry.stream
            if stream in unknown:
                unknown.discard(stream)
                if entry.stored.seq == 1:
                    self._states[stream] = Remembered(self._initial, 0, 0)
                else:
                    missing[stream] = entry.stored.seq
        return missing

    def get(self, stream: str) -> Remembered[S]:
        """The stream's state. Raises CannotApply where it could not be read."""
        if self._stateless:
            return Remembered(self._initial, 0, 0)
        if stream in self._unreadable:
            raise CannotApply("unreadable_state", self._unreadable[stream])
        return self._states[stream]

    def take_in(self, stream: str, stored: StoredState | None, before: int) -> None:
        """The state as it is stored, which must be of an event before number `before`."""
        self._unreadable.pop(stream, None)
        if stored is None:
            self._states[stream] = Remembered(self._initial, 0, 0)
            return
        try:
            state = self._decoder.decode(stored.state)
        except msgspec.DecodeError as error:
            self.give_up(stream, str(error))
            return
        self._states[stream] = Remembered(self._initial if state is None else state, stored.seq, 0)
        if stored.seq >= before:
            self.give_up(stream, f"the state is of event {stored.seq}, and {before} is to be applied")

    def give_up(self, stream: str, reason: str) -> None:
        """The stream's state cannot be had."""
        self._states.pop(stream, None)
        self._unreadable[stream] = reason

    def put(self, states: dict[str, Remembered[S]]) -> None:
        """These are committed."""
        if self._stateless:
            return
        for stream, state in states.items():
            self._states[stream] = state
            self._states.move_to_end(stream)

    def trim(self) -> None:
        """Forget what was not needed for long. Not while a batch is under way, which may need just that."""
        while len(self._states) > REMEMBERED:
            self._states.popitem(last=False)

    def store(self, states: dict[str, Remembered[S]]) -> list[RowWrite]:
        """The write of those of `states` that are due."""
        if self._stateless:
            return []
        rows: list[Mapping[str, Any]] = []
        for stream, each in states.items():
            if each.unstored >= STORE_EVERY:
                each.unstored = 0
                state = None if each.state is self._initial else each.state
                rows.append({"stream": stream, "seq": each.seq, "state": state})
        return [RowWrite(STATES, "put", ("stream", "seq", "state"), rows)] if rows else []
