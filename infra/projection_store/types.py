"""The nouns of the projections' store. Source: DESIGN "Projections"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from infra.clock import from_rfc3339

REASON_LENGTH = 500
"""No reason that is kept is longer."""
STATES = "stream_state"
"""The engine's own table in each projection's schema: the state of a stream as its step left it."""


State = Literal["building", "following", "dropping"]


def schema_of(name: str, version: int, generation: int) -> str:
    """The Postgres schema of a generation: `ledger_v2`, and `ledger_v2_g3` for its third."""
    return f"{name}_v{version}" if generation == 1 else f"{name}_v{version}_g{generation}"


class Definition(Struct, frozen=True):
    """A projection's version and the SQL that makes its tables."""

    name: str
    version: int
    ddl: str


class Generation(Struct, frozen=True, kw_only=True):
    """A version, built once: its rows are in `schema`. `digest` is that of the DDL which made it.

    `state` is as in `0003_generations.sql`; `served` says whether it ever served, `refused` why it may not, or why it
    cannot be kept up.
    """

    name: str
    version: int
    generation: int
    schema: str
    state: State
    serving: bool
    served: bool
    digest: str
    refused: str | None


class Shape(Struct, frozen=True):
    """A table as the catalog has it: its columns in order, those of the primary key, and those that hold JSON."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    json: frozenset[str] = frozenset()


class Parked(Struct, frozen=True):
    """A stream that waits: `seq` is the first number not applied, `since_ms` when it was parked first."""

    stream: str
    part: int
    seq: int
    code: str
    reason: str
    since_ms: int


class Retaken(Struct, frozen=True):
    """What became of a parked stream: it went on from `seq`, and waits again as `parked` says, or no more."""

    stream: str
    seq: int
    parked: Parked | None


class Stopped(Struct, frozen=True):
    """A part that is not read: there is a hole in its numbers after `pos`."""

    part: int
    pos: int
    reason: str
    since_ms: int


class StoredState(Struct, frozen=True):
    """What a step remembered of a stream after its event `seq`, as JSON text."""

    seq: int
    state: str


class Standing(Struct, frozen=True, kw_only=True):
    """How a generation stands: `position` and `head` are sums over all parts, in events.

    `behind_since` is the recorded time (RFC 3339) of the oldest event that it has not passed, None where there is none.
    `kept` says whether a process keeps it up now, `rate` how many events a second that one passed lately.
    """

    name: str
    version: int
    generation: int = 1
    schema: str = ""
    state: State = "following"
    serving: bool
    refused: str | None = None
    kept: bool = False
    rate: int = 0
    position: int
    head: int
    behind_since: str | None
    parked: tuple[Parked, ...] = ()

    @property
    def lag_events(self) -> int:
        """How many events it has not passed."""
        return self.head - self.position

    def lag_ms(self, now_ms: int) -> int:
        """For how long the oldest event that it has not passed has been waiting at `now_ms`."""
        return 0 if self.behind_since is None else max(0, now_ms - from_rfc3339(self.behind_since))


class Checkpoint(Struct, frozen=True):
    """How far a projection is: the position in each part, and the streams that wait there."""

    vector: dict[int, int]
    parked: dict[str, Parked]


class Law(Struct, frozen=True):
    """What must hold of a generation's rows: `text`, with `{schema}`, finds those that break it, as lines to read."""

    name: str
    text: str


class Difference(Struct, frozen=True, kw_only=True):
    """A row that is not alike in two generations: `key` names it, `column` what differs; None where there is no row.

    `ours` is of the generation in question, `other` of the one that it is compared with, as JSON text.
    """

    table: str
    key: str
    column: str | None
    ours: str | None
    other: str | None


Kind = Literal["insert", "put", "update", "add", "delete"]


class RowWrite(Struct, frozen=True):
    """Rows of one table that one statement writes; all hold the same `columns`, the primary key among them."""

    table: str
    kind: Kind
    columns: tuple[str, ...]
    rows: list[Mapping[str, Any]]


class Work(Struct, frozen=True, kw_only=True):
    """What one generation has to write in one transaction. `moves` is (part → (position before, position after)).

    `serve` lets it serve the readers from then on, where no other of its name does.
    """

    schema: str
    moves: dict[int, tuple[int, int]]
    writes: list[RowWrite]
    parked: list[Parked]
    retaken: list[Retaken]
    serve: bool = False


class WriteStale(Exception):
    """Another process has moved the checkpoint, or dropped the rows: nothing was written; load it again."""


class WriteBroken(Exception):
    """Postgres cannot write there, whatever the rows: the table is damaged, or is not ours. Nothing was written.

    `reason` is the server's message.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WriteRefused(Exception):
    """Postgres will not take these rows (a key that is there, a value out of range): nothing was written.

    `reason` is the server's message for its SQLSTATE, without the values.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
