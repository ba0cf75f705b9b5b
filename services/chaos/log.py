"""The log, followed as it grows and checked event by event: dense, chained, and no unit too many or too few.

It stands on the stored events alone, never on a projection, and looks at moments at which the log is whole: positions
of all parts that one statement gave, between which no command is half there.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct, field

from domain.events import (
    AccountEvent,
    AccountOpened,
    Adjusted,
    BoughtIn,
    CashedOut,
    CommissionTaken,
    Deposited,
    Event,
    TableClosed,
    Withdrawn,
)
from domain.evolve import evolve
from domain.table import Table
from infra.codec import Codec
from infra.meta import decode_meta
from infra.store import GENESIS, EventStore, StoredEvent
from infra.store.chain import event_hash
from services.chaos.watching import mark

BATCH = 2_000
TABLE = "table-"
ACCOUNT = "account-"
ENDS = frozenset({"hand_settled", "hand_voided"})


class Stream(Struct):
    """What is known of a stream: last number and hash, and of a table the marks of its events' types."""

    seq: int = 0
    hash: bytes = GENESIS
    marks: array[int] = field(default_factory=lambda: array("I"))


class AtTable(Struct):
    """A table: its state, how many hands began and ended, and when it moved last, by this process's clock."""

    table: Table | None = None
    started: int = 0
    ended: int = 0
    moved_s: float = 0.0


class LogWatch:
    """Follows one log. `broken` says what was found, `events` and `moments` how much was looked at."""

    def __init__(self, store: EventStore, codec: Codec) -> None:
        self._store = store
        self._codec = codec
        self._vector: dict[int, int] = {}
        self._outside = 0
        self._commission = 0
        self._balances: dict[str, int] = {}
        self.streams: dict[str, Stream] = {}
        self.tables: dict[str, AtTable] = {}
        self.events = 0
        self.moments = 0
        self.broken: list[str] = []

    async def look(self) -> None:
        """Read on to the log's end, and check. Raises Fault where the store is away: look again."""
        heads = await self._store.part_heads()
        for part, pos in self._vector.items():
            if heads.get(part, 0) < pos:
                self.broken.append(f"part {part} ends at position {heads.get(part, 0)}, and {pos} was there before")
                return
        while behind := {p: self._vector.get(p, 0) for p, pos in heads.items() if self._vector.get(p, 0) < pos}:
            for event in await self._store.read_parts(behind, BATCH):
                if event.pos <= heads[event.part]:
                    self._take(event)
        self.moments += 1
        self._check_money()

    def _take(self, event: StoredEvent) -> None:
        before = self._vector.get(event.part, 0)
        if event.pos != before + 1:
            self.broken.append(f"part {event.part}: after position {before} comes {event.pos}")
        self._vector[event.part] = event.pos
        self.events += 1
        stream = self.streams.setdefault(event.stream, Stream())
        if event.seq != stream.seq + 1 or event.hash != _hash_after(stream.hash, event):
            self.broken.append(f"{event.stream}: event {event.seq} does not follow event {stream.seq}")
        stream.seq, stream.hash = event.seq, event.hash
        if event.stream.startswith(TABLE):
            stream.marks.append(mark(event.type))
            self._at_table(event)
        elif event.stream.startswith(ACCOUNT):
            self._on_account(event.stream, self._codec.decode_public(event))

    def _at_table(self, stored: StoredEvent) -> None:
        at = self.tables.setdefault(stored.stream, AtTable())
        event = self._codec.decode(stored)
        at.table = evolve(at.table, event, decode_meta(stored.meta).at_ms)
        at.moved_s = time.monotonic()
        at.started += stored.type == "hand_started"
        at.ended += stored.type in ENDS
        if isinstance(event, CommissionTaken):
            self._commission += event.amount
        elif isinstance(event, TableClosed) and at.started != at.ended:
            self.broken.append(f"{stored.stream} closed with {at.started} hands begun and {at.ended} ended")

    def _on_account(self, stream: str, event: Event) -> None:
        assert isinstance(event, AccountEvent)
        before = self._balances.get(stream, 0)
        match event:
            case AccountOpened():
                self._balances[stream] = 0
                return
            case Deposited(amount=amount):
                change = amount
                self._outside += amount
            case Withdrawn(amount=amount):
                change = -amount
                self._outside -= amount
            case Adjusted(amount=amount):
                change = amount
                self._outside += amount
            case BoughtIn(amount=amount):
                change = -amount
            case CashedOut(amount=amount):
                change = amount
            case _:
                assert_never(event)
        self._balances[stream] = event.balance
        if event.balance != before + change or event.balance < 0:
            self.broken.append(f"{stream}: {before} and {change:+} made {event.balance}")

    def _check_money(self) -> None:
        """What came from outside is somewhere, and nothing else is anywhere. A hand moves its money when it ends."""
        tables = [at.table for at in self.tables.values() if at.table is not None]
        purses = [seat.purse for table in tables for seat in table.seats]
        banks = [table.carried_bank for table in tables]
        inside = sum(self._balances.values()) + sum(purses) + sum(banks) + self._commission
        if inside != self._outside:
            self.broken.append(f"{self._outside} came from outside, and {inside} is there ({self.events} events)")
        if min([*purses, *banks], default=0) < 0:
            self.broken.append(f"a purse or a bank is below zero ({self.events} events)")

    def stalled(self, limit_s: float) -> list[str]:
        """The tables that are open and have not moved for so long."""
        late = time.monotonic() - limit_s
        return [name for name, at in self.tables.items() if not _closed(at) and at.moved_s < late]

    def hands(self) -> Mapping[str, int]:
        """How many hands have ended, by table."""
        return {name: at.ended for name, at in self.tables.items()}


def _closed(at: AtTable) -> bool:
    return at.table is not None and at.table.closed


def _hash_after(previous: bytes, e: StoredEvent) -> bytes:
    return event_hash(previous, e.stream, e.seq, e.type, e.version, e.command_id, e.idx, e.body, e.meta)
