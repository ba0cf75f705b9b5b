"""What a projection is, and what it may ask of the engine. Source: DESIGN "Projections".

A projection is a name, a version, its DDL and a pure step from event to row changes. The engine reads the log, calls
the step once for each event in the order of its stream, and writes the row changes of a batch in the same transaction
as the checkpoint: each event is applied exactly once, whatever is killed. A step does no I/O and reads no rows; what it
must remember of a stream it keeps in a state, which the engine stores beside the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from domain.events import Event
from infra.meta import recorded_by
from infra.projection_store import Law, schema_of

S = TypeVar("S")

Row = Mapping[str, Any]
"""Column name → value: text, integers, booleans and None as they are; a uuid as canonical text; bytes as hex text; a
moment as a bigint of milliseconds; a `json` or `jsonb` column takes whatever msgspec encodes."""


class Recorded(Struct, frozen=True, gc=False):
    """One event as a projection sees it: where it stands in the log, when it happened, what it says.

    `event` is the public form: the fields that `domain.events.SECRETS` names are at their empty value. `command_id` (16
    bytes) is what it has in common with the other events of that command, in whatever stream. `pos` counts the events
    of `part`, `seq` those of `stream`, from 1. `meta` is as it is stored, and read when a step first asks for what is
    in it, which most do not.
    """

    stream: str
    seq: int
    part: int
    pos: int
    command_id: bytes
    event: Event
    meta: bytes

    @property
    def at_ms(self) -> int:
        """The recorded time. Raises CannotApply where the meta is damaged."""
        return _recorded_by(self.meta)[0]

    @property
    def subject(self) -> str:
        """Who asked for the command. Raises CannotApply where the meta is damaged."""
        return _recorded_by(self.meta)[1]


@lru_cache(maxsize=64)
def _recorded_by(meta: bytes) -> tuple[int, str]:
    """The events of one command share their meta."""
    try:
        return recorded_by(meta)
    except (msgspec.DecodeError, ValueError) as error:
        raise CannotApply("undecodable", f"{type(error).__name__} in the meta of the event") from error


class Insert(Struct, frozen=True):
    """A new row, every column named. A key that is there already parks the stream (`rejected`)."""

    table: str
    row: Row


class Put(Struct, frozen=True):
    """A whole row by its primary key, new or in place of the one that is there; every column is named."""

    table: str
    row: Row


class Update(Struct, frozen=True):
    """New values for some columns of the row with this primary key; where there is none, nothing happens."""

    table: str
    key: Row
    values: Row


class Add(Struct, frozen=True):
    """Integers added to columns of the row with this primary key, which begins at 0 where there is none.

    A table that is added to is written by nothing but `Add`. Its other columns have defaults.
    """

    table: str
    key: Row
    amounts: Mapping[str, int]


class Delete(Struct, frozen=True):
    """The row with this primary key goes."""

    table: str
    key: Row


Change = Insert | Put | Update | Add | Delete


class CannotApply(Exception):
    """An event that a step cannot apply: its stream is parked here, its state and rows stay as before this event.

    `code` is a stable lower-case word (`mismatch`, …), `reason` says to a person what is wrong, without secrets. Later
    events of that stream wait; the event is tried again on start and on a schedule. Any other exception that leaves a
    step parks the stream too, with the code `failed`.

    `onward`, where it is given, is a state from which the later events may be tried: one that the step then takes makes
    this one good, and the stream goes on from there as if the events between had been applied without a change. (A
    disputed hand of the ledger that ops void.)
    """

    def __init__(self, code: str, reason: str, onward: Any = None) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason
        self.onward = onward


class Projection(Struct, Generic[S], frozen=True, kw_only=True):
    """A projection that S is the state of, one for each stream.

    - `name`, `version`: together they name the Postgres schema `<name>_v<version>`, with `_g2`, … where the version was
      built again. Another DDL, or another meaning of the rows, is another version; the engine refuses to run a version
      whose DDL is not the one it was made with.
    - `ddl`: the SQL that makes the tables, unqualified names, run once in that schema. Each table has a primary key;
      the engine takes columns, types and keys from the catalog. The name `stream_state` is the engine's own.
    - `streams`: prefixes of the streams that it follows, such as `("table-", "account-")`.
    - `handles`: the events that it wants. The others are passed over undecoded. A type or version in a followed stream
      that this code does not know parks the stream (`unknown_event`).
    - `state`: S, or a tagged union, as msgspec can store it; None where a step remembers nothing. `initial` is the
      state of a stream before its first event. Frozen. It is stored now and then, not at every event.
    - `step(state, recorded) -> (state, changes)`: pure. It may raise `CannotApply`. It is called again for the events
      since a state was stored, to have that state in memory; their rows were written the first time. Rows that streams
      of different parts share must be written by `Add`, or hold the part in their key: there is no order between two
      parts, and several processes may apply them at the same time.
    - `heals`: those of `handles` that may make a parked stream good; one of them has its stream tried again at once.
    - `changes`: the tables (`entry`) and columns (`entry.clause`) whose rows this version means to have otherwise than
      the one before. All others must come out alike, or the version is not switched to.
    - `laws`: what must hold of the rows at any position.
    """

    name: str
    version: int
    ddl: str
    streams: tuple[str, ...]
    handles: tuple[type[Event], ...]
    state: Any
    initial: S
    step: Callable[[S, Recorded], tuple[S, Sequence[Change]]]
    heals: tuple[type[Event], ...] = ()
    changes: tuple[str, ...] = ()
    laws: tuple[Law, ...] = ()

    @property
    def schema(self) -> str:
        """The Postgres schema of its first generation."""
        return schema_of(self.name, self.version, 1)
