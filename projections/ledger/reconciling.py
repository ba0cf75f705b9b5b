"""The books against the log: folded afresh, and compared row by row with what is kept. Source: DESIGN "Projections".

Three accounts of the same money are compared: the rows of the projection, a fresh fold of the log by the ledger's own
reckoning, and the balances that account streams and tables say themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from domain import accounts as account_streams
from domain import evolve as tables
from domain.events import OPENINGS, AccountEvent, Event, HandSettled, HandVoided
from domain.evolve_hand import HANDLERS
from domain.ledger import POSTED, Book, accounts
from domain.table import Table
from infra.projection_store import ProjectionReader
from infra.store import EventStore, StoredEvent
from projections.engine.log import KNOWN, Decode, Entry
from projections.engine.types import Add, CannotApply, Insert
from projections.ledger.projection import LEDGER, NAME, step
from projections.ledger.reads import HERE, PostedEntry

PART_ENTRIES = (HERE / "part_entries.sql").read_text()
SNAPSHOT = (HERE / "snapshot.sql").read_text()
CHUNK = 5_000
Money = dict[tuple[str, str], int]
"""(account, currency) → minor units."""

_PASSED_OVER = KNOWN - {str(event.__struct_config__.tag) for event in POSTED}
_IN_HAND = frozenset(HANDLERS) - {HandSettled, HandVoided}
"""Events that leave purses and the carried bank of a table as before the hand."""


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that is not as it should be; `book` is what the rows say, `expected` what it should be.

    `what`: an entry or a balance that differs from the fresh fold, a balance that differs from what the account's own
    stream or the table says, or money left in transit. `where` names the row or the stream.
    """

    what: Literal["entry", "balance", "account", "table", "transit"]
    account: str
    currency: str
    book: int
    expected: int
    where: str


class Waiting(Struct, frozen=True):
    """A stream that the fresh fold cannot pass: `reason` says why, and from which number on nothing is posted."""

    stream: str
    seq: int
    reason: str


class Reconciliation(Struct, frozen=True):
    """What was compared, and every difference; `waiting` are streams in dispute, whose money is not posted."""

    events: int
    entries: int
    accounts: int
    differences: tuple[Difference, ...]
    waiting: tuple[Waiting, ...]

    @property
    def holds(self) -> bool:
        """Whether the books are right to the last unit."""
        return not self.differences and not self.waiting


Progress = Callable[[int, int], None]
"""Told the events done and their number in all."""


async def reconcile(
    store: EventStore,
    decode: Decode,
    reader: ProjectionReader,
    progress: Progress = lambda done, total: None,
) -> Reconciliation:
    """Compare, part by part, at the position where the projection stands; play may go on meanwhile.

    Money in transit is judged at the log's end as it was when this began: there all streams of a command are passed.
    Raises Fault(`store_unavailable`), Fault(`projection_missing`), StoreGap.
    """
    vector, kept = await _snapshot(reader)
    heads = await store.part_heads()
    found = _Found(kept, sum(heads.values()), progress)
    for part, head in sorted(heads.items()):
        fold = _PartFold(part)
        await _read(store, decode, fold, 0, vector.get(part, 0), found)
        given = {"part": part, "upto": vector.get(part, 0)}
        found.compare(fold, await reader.rows(NAME, PART_ENTRIES, given, PostedEntry))
        await _read(store, decode, fold, vector.get(part, 0), head, found)
        found.finish(fold)
    return found.reconciliation()


class _Row(Struct, frozen=True):
    account: str
    currency: str
    part: int
    amount: int


async def _snapshot(reader: ProjectionReader) -> tuple[dict[int, int], dict[int, Money]]:
    vector: dict[int, int] = {}
    kept: dict[int, Money] = {}
    for row in await reader.rows(NAME, SNAPSHOT, {}, _Row):
        if row.account:
            kept.setdefault(row.part, {})[row.account, row.currency] = row.amount
        else:
            vector[row.part] = row.amount
    return vector, kept


async def _read(store: EventStore, decode: Decode, fold: _PartFold, after: int, upto: int, found: _Found) -> None:
    while after < upto:
        events = await store.read_parts({fold.part: after}, min(CHUNK, upto - after))
        for stored in events:
            fold.take(stored, decode)
        after = events[-1].pos
        found.passed(len(events))


class _PartFold:
    """The streams of one part, folded afresh: the rows that they come to, and what they say of themselves."""

    def __init__(self, part: int) -> None:
        self.part = part
        self.entries: dict[tuple[int, int], PostedEntry] = {}
        self.balances: Money = {}
        self.waiting: dict[str, Waiting] = {}
        self._states: dict[str, Book] = {}
        self._onward: dict[str, Book] = {}
        self._unreadable: set[str] = set()
        self._accounts: dict[str, account_streams.Account] = {}
        self._tables: dict[str, list[tuple[Event, int]]] = {}

    def take(self, stored: StoredEvent, decode: Decode) -> None:
        """The next event of the part."""
        stream = stored.stream
        if stored.type in _PASSED_OVER or not stream.startswith(LEDGER.streams) or stream in self._unreadable:
            return
        try:
            recorded = Entry(stored, stream, stored.type, decode).recorded()
            self._heard(stream, recorded.event, recorded.at_ms)
        except CannotApply as problem:
            self.waiting.setdefault(stream, Waiting(stream, stored.seq, str(problem)))
            self._unreadable.add(stream)
            return
        before = self._states.get(stream, LEDGER.initial)
        if stream in self.waiting:
            if stream not in self._onward:
                return
            before = self._onward.pop(stream)
        try:
            state, changes = step(before, recorded)
        except (CannotApply, LookupError) as problem:
            self.waiting.setdefault(stream, Waiting(stream, stored.seq, str(problem)))
            if isinstance(problem, CannotApply) and problem.onward is not None:
                self._onward[stream] = problem.onward
            return
        self.waiting.pop(stream, None)
        self._states[stream] = state
        for change in changes:
            if isinstance(change, Insert):
                row = {**change.row, "hand_id": change.row["hand_id"] or ""}
                entry = PostedEntry(**row)
                self.entries[entry.pos, entry.n] = entry
            elif isinstance(change, Add):
                key = change.key["account"], change.key["currency"]
                self.balances[key] = self.balances.get(key, 0) + change.amounts["balance"]

    def _heard(self, stream: str, event: Event, at_ms: int) -> None:
        """What the stream itself says: an account's balance, a table's events since its last full state."""
        if isinstance(event, AccountEvent):
            self._accounts[stream] = account_streams.evolve(self._accounts.get(stream), event)
        elif type(event) in OPENINGS:
            self._tables[stream] = [(event, at_ms)]
        elif type(event) not in _IN_HAND:
            self._tables[stream].append((event, at_ms))

    def said_by_accounts(self) -> dict[tuple[str, str], tuple[int, str]]:
        """(account, currency) → the balance that the account's stream says, and the stream."""
        return {(accounts.player(a.player), a.currency): (a.balance, stream) for stream, a in self._accounts.items()}

    def said_by_tables(self) -> dict[tuple[str, str], tuple[int, str]]:
        """(account, currency) → what the table says of its bank and of each purse, as before a running hand."""
        said = {}
        for stream, events in self._tables.items():
            table = _folded(events)
            currency, table_id = table.settings.currency, stream.removeprefix("table-")
            said[accounts.bank(table_id), currency] = (table.carried_bank, stream)
            for seat in table.seats:
                said[accounts.purse(table_id, seat.player), currency] = (seat.purse, stream)
        return said


def _folded(events: list[tuple[Event, int]]) -> Table:
    table: Table | None = None
    for event, at_ms in events:
        table = tables.evolve(table, event, at_ms)
    assert table is not None
    return table


class _Found:
    """The differences, as they are found."""

    def __init__(self, kept: dict[int, Money], total: int, progress: Progress) -> None:
        self._kept = kept
        self._total = total
        self._progress = progress
        self._events = 0
        self._entries = 0
        self._differences: list[Difference] = []
        self._waiting: list[Waiting] = []
        self._transit: Money = {}
        # What the fold and a stream agree on is named once.
        self._named: set[tuple[tuple[str, str], int, int]] = set()

    def passed(self, events: int) -> None:
        """So many more events are folded."""
        self._events += events
        self._progress(self._events, self._total)

    def compare(self, fold: _PartFold, rows: list[PostedEntry]) -> None:
        """The rows of a part with its fold, which stands where the projection does."""
        self._entries += len(rows)
        self._compare_entries(fold, {(row.pos, row.n): row for row in rows})
        kept = self._kept.get(fold.part, {})
        for key in sorted(kept.keys() | fold.balances.keys()):
            self._compare("balance", key, kept, fold.balances.get(key, 0), f"part {fold.part}")
        for key, (amount, stream) in fold.said_by_accounts().items():
            self._compare("account", key, kept, amount, stream)
        said = fold.said_by_tables()
        for key, (amount, stream) in said.items():
            self._compare("table", key, kept, amount, stream)
        for key in kept:
            if accounts.kind(key[0]) in ("purse", "bank") and key not in said:
                self._compare("table", key, kept, 0, f"table-{key[0].split(':')[1]}")

    def _compare_entries(self, fold: _PartFold, rows: dict[tuple[int, int], PostedEntry]) -> None:
        for place in sorted(rows.keys() | fold.entries.keys()):
            row, expected = rows.get(place), fold.entries.get(place)
            if row == expected:
                continue
            named = expected or row
            assert named is not None
            where = (
                f"part {fold.part}, position {place[0]}, posting {place[1]} ({named.stream}, event {named.seq}): "
                f"{_how(row, expected)}"
            )
            for side in ("debit", "credit"):
                for account in dict.fromkeys(str(getattr(e, side)) for e in (row, expected) if e is not None):
                    self._differences.append(
                        Difference(
                            what="entry",
                            account=account,
                            currency=named.currency,
                            book=_on(row, side, account),
                            expected=_on(expected, side, account),
                            where=where,
                        )
                    )

    def _compare(
        self,
        what: Literal["balance", "account", "table"],
        key: tuple[str, str],
        kept: Money,
        expected: int,
        where: str,
    ) -> None:
        book = kept.get(key, 0)
        named = key, book, expected
        if book != expected and named not in self._named:
            self._named.add(named)
            difference = Difference(
                what=what, account=key[0], currency=key[1], book=book, expected=expected, where=where
            )
            self._differences.append(difference)

    def finish(self, fold: _PartFold) -> None:
        """A part that is folded to the log's end."""
        self._waiting.extend(fold.waiting.values())
        for key, amount in fold.balances.items():
            if accounts.kind(key[0]) == "transit":
                self._transit[key] = self._transit.get(key, 0) + amount

    def reconciliation(self) -> Reconciliation:
        """All of it, money left in transit last."""
        for (account, currency), amount in sorted(self._transit.items()):
            if amount:
                difference = Difference(
                    what="transit", account=account, currency=currency, book=amount, expected=0, where="the whole log"
                )
                self._differences.append(difference)
        return Reconciliation(
            events=self._events,
            entries=self._entries,
            accounts=len({key for kept in self._kept.values() for key in kept}),
            differences=tuple(self._differences),
            waiting=tuple(self._waiting),
        )


def _how(row: PostedEntry | None, expected: PostedEntry | None) -> str:
    if row is None:
        return "it is missing"
    if expected is None:
        return "there should be none"
    fields = [f for f in PostedEntry.__struct_fields__ if getattr(row, f) != getattr(expected, f)]
    return f"its {', '.join(fields)}"


def _on(entry: PostedEntry | None, side: str, account: str) -> int:
    """What an entry moves on this side of this account."""
    if entry is None or getattr(entry, side) != account:
        return 0
    return -entry.amount if side == "debit" else entry.amount
