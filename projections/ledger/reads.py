"""The books read: trial balance, balances, statements, the entries of a hand, and what is in dispute."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from infra.projection_store import Parked, ProjectionReader
from projections.ledger.projection import MISMATCH, NAME
from projections.paging import cursor_of, values_of

HERE = Path(__file__).parent
TRIAL_BALANCE = (HERE / "trial_balance.sql").read_text()
BALANCES = (HERE / "balances.sql").read_text()
IN_TRANSIT = (HERE / "in_transit.sql").read_text()
HAND_ENTRIES = (HERE / "hand_entries.sql").read_text()
STATEMENT = (HERE / "statement.sql").read_text()
POSITION = (HERE / "position.sql").read_text()
BALANCE_BEFORE = (HERE / "balance_before.sql").read_text()
EVER = 2**62
"""A moment after all others, in milliseconds."""


class KindTotal(Struct, frozen=True):
    """The sum over all accounts of a kind (`domain.ledger.accounts.KINDS`), in minor units of one currency."""

    kind: str
    currency: str
    accounts: int
    balance: int


class TrialBalance(Struct, frozen=True):
    """All books of all currencies, by currency and kind."""

    totals: tuple[KindTotal, ...]

    def sums(self) -> dict[str, int]:
        """The sum of everything, by currency: zero, always."""
        sums: dict[str, int] = {}
        for total in self.totals:
            sums[total.currency] = sums.get(total.currency, 0) + total.balance
        return sums

    @property
    def zero(self) -> bool:
        """Whether the books sum to zero in every currency."""
        return not any(self.sums().values())


class Balance(Struct, frozen=True):
    """What an account holds, in minor units."""

    account: str
    currency: str
    balance: int


class Line(Struct, frozen=True, kw_only=True):
    """A line of a statement: `change` came from, or below zero went to, the account `other`; `balance` is after it."""

    at_ms: int
    part: int
    pos: int
    n: int
    stream: str
    seq: int
    hand_id: str
    clause: str
    other: str
    change: int
    balance: int = 0


class Statement(Struct, frozen=True):
    """A page of an account's statement, the oldest line first. `opening` is the balance before its first line, `next`
    the cursor of the page after it, None where there is none.
    """

    account: str
    currency: str
    opening: int
    lines: tuple[Line, ...]
    next: str | None


class PostedEntry(Struct, frozen=True, kw_only=True):
    """A stored posting, see `schema.sql`; `hand_id` is empty outside a hand."""

    part: int
    pos: int
    n: int
    at_ms: int
    stream: str
    seq: int
    hand_id: str
    clause: str
    currency: str
    debit: str
    credit: str
    amount: int


async def trial_balance(reader: ProjectionReader) -> TrialBalance:
    """Sums by kind of account and currency. Raises Fault, as all here do."""
    return TrialBalance(tuple(await reader.rows(NAME, TRIAL_BALANCE, {}, KindTotal)))


async def balances(reader: ProjectionReader, accounts: Iterable[str]) -> tuple[Balance, ...]:
    """Those of `accounts` that were ever moved, in every currency in which they were."""
    return tuple(await reader.rows(NAME, BALANCES, {"accounts": list(accounts)}, Balance))


async def in_transit(reader: ProjectionReader) -> tuple[Balance, ...]:
    """Money between two streams: what stays here once both are passed is a fault."""
    return tuple(await reader.rows(NAME, IN_TRANSIT, {}, Balance))


async def entries_of_hand(reader: ProjectionReader, hand_id: str) -> tuple[PostedEntry, ...]:
    """The entries of a hand, in the order in which they were made; none before its end. `hand_id` is a UUID's text."""
    return tuple(await reader.rows(NAME, HAND_ENTRIES, {"hand_id": hand_id}, PostedEntry))


async def position(reader: ProjectionReader, part: int) -> int:
    """Up to which position of a part the books have come."""
    (found,) = await reader.rows(NAME, POSITION, {"part": part}, _Position)
    return found.pos


async def mismatches(reader: ProjectionReader) -> tuple[Parked, ...]:
    """The streams that wait because the record differs from the reckoning: these tables are to be halted."""
    return tuple(p for p in await reader.parked(NAME) if p.code == MISMATCH)


async def statement(
    reader: ProjectionReader,
    account: str,
    currency: str,
    *,
    from_ms: int = 0,
    to_ms: int = EVER,
    cursor: str | None = None,
    limit: int = 50,
) -> Statement:
    """A page of at most `limit` lines from `from_ms` until before `to_ms`, or from where the last page ended.

    Lines of one stream come in its order. An account of many parts (`cash`, `house:…`) is in order of time; what
    a part that lags posts late stands where its time puts it, so a later reading may find it on an earlier page.
    Raises BadCursor and Fault.
    """
    if cursor is None:
        at_ms, part, pos, n = from_ms, -1, -1, -1
        opening = await _balance_before(reader, account, currency, from_ms)
    else:
        at_ms, part, pos, n, opening = values_of(cursor, tuple[int, int, int, int, int])
    given = {"account": account, "currency": currency, "to_ms": to_ms, "limit": limit + 1}
    place = {"at_ms": at_ms, "part": part, "pos": pos, "n": n}
    found = await reader.rows(NAME, STATEMENT, {**given, **place}, Line)
    balance, lines = opening, []
    for line in found[:limit]:
        balance += line.change
        lines.append(replace(line, balance=balance))
    more = None
    if len(found) > limit:
        last = lines[-1]
        more = cursor_of(last.at_ms, last.part, last.pos, last.n, last.balance)
    return Statement(account, currency, opening, tuple(lines), more)


async def _balance_before(reader: ProjectionReader, account: str, currency: str, from_ms: int) -> int:
    if from_ms <= 0:
        return 0
    given = {"account": account, "currency": currency, "from_ms": from_ms}
    (before,) = await reader.rows(NAME, BALANCE_BEFORE, given, _Sum)
    return before.balance


class _Sum(Struct, frozen=True):
    balance: int


class _Position(Struct, frozen=True):
    pos: int
