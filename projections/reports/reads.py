"""The reports: what the house took, fines that a purse did not cover, banks that are carried, hands that were voided.

Each is read page by page from the projections of the ledger and of the hands. Amounts are minor units; a period is from
`from_ms` until before `to_ms`. All raise BadCursor and Fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of

HERE = Path(__file__).parent
COMMISSION = (HERE / "commission.sql").read_text()
BANKS = (HERE / "banks.sql").read_text()
FINES = (HERE / "fines.sql").read_text()
VOIDS = (HERE / "voids.sql").read_text()
NIL = "00000000-0000-0000-0000-000000000000"
TABLE, BANK = "table-", "bank:"
EVER = 2**62
R = TypeVar("R", bound=Struct)


class Commission(Struct, frozen=True, kw_only=True):
    """T10: what one table brought the house on one day, which is counted from 1970-01-01 UTC."""

    day: int
    stream: str
    currency: str
    hands: int
    amount: int

    @property
    def table_id(self) -> str:
        """The table's id."""
        return self.stream.removeprefix(TABLE)


class CarriedBank(Struct, frozen=True, kw_only=True):
    """T6: what lies in the bank of a table now."""

    account: str
    currency: str
    amount: int

    @property
    def table_id(self) -> str:
        """The table's id."""
        return self.account.removeprefix(BANK)


class CappedFine(Struct, frozen=True, kw_only=True):
    """T7: a fine of which the purse covered `paid` alone."""

    ended_ms: int
    hand_id: str
    table_id: str
    currency: str
    seat: int
    player: str
    status: str
    due: int
    paid: int


class VoidedHand(Struct, frozen=True, kw_only=True):
    """T12: a hand that came to nothing: `no_declarer`, or voided by `ops` for a reason."""

    ended_ms: int
    hand_id: str
    table_id: str
    currency: str
    game: str
    cause: str
    reason: str
    players: int


async def commission(
    reader: ProjectionReader, *, from_ms: int = 0, to_ms: int = EVER, cursor: str | None = None, limit: int = 1_000
) -> Page[Commission]:
    """T10: by day and table. A day at either end of the period holds what is in the period."""
    day, stream, currency = values_of(cursor, tuple[int, str, str]) if cursor else (-1, "", "")
    given = {"from_ms": from_ms, "to_ms": to_ms, "day": day, "stream": stream, "currency": currency}
    return await _page(reader, "ledger", COMMISSION, given, Commission, limit, ("day", "stream", "currency"))


async def carried_banks(
    reader: ProjectionReader, *, cursor: str | None = None, limit: int = 1_000
) -> Page[CarriedBank]:
    """T6, T7: every bank that is not empty, as the ledger has it now; of a running hand as before it."""
    account, currency = values_of(cursor, tuple[str, str]) if cursor else ("", "")
    given = {"account": account, "currency": currency}
    return await _page(reader, "ledger", BANKS, given, CarriedBank, limit, ("account", "currency"))


async def capped_fines(
    reader: ProjectionReader, *, from_ms: int = 0, to_ms: int = EVER, cursor: str | None = None, limit: int = 1_000
) -> Page[CappedFine]:
    """T7: the oldest first, as they were recorded."""
    ended_ms, hand_id, seat = values_of(cursor, tuple[int, str, int]) if cursor else (-1, NIL, -1)
    given = {"from_ms": from_ms, "to_ms": to_ms, "ended_ms": ended_ms, "hand_id": hand_id, "seat": seat}
    return await _page(reader, "hands", FINES, given, CappedFine, limit, ("ended_ms", "hand_id", "seat"))


async def voided_hands(
    reader: ProjectionReader, *, from_ms: int = 0, to_ms: int = EVER, cursor: str | None = None, limit: int = 1_000
) -> Page[VoidedHand]:
    """T12: the oldest first."""
    ended_ms, hand_id = values_of(cursor, tuple[int, str]) if cursor else (-1, NIL)
    given = {"from_ms": from_ms, "to_ms": to_ms, "ended_ms": ended_ms, "hand_id": hand_id}
    return await _page(reader, "hands", VOIDS, given, VoidedHand, limit, ("ended_ms", "hand_id"))


async def _page(
    reader: ProjectionReader,
    name: str,
    text: str,
    given: Mapping[str, Any],
    shape: type[R],
    limit: int,
    key: tuple[str, ...],
) -> Page[R]:
    found = await reader.rows(name, text, {**given, "limit": limit + 1}, shape)
    more = cursor_of(*(getattr(found[limit - 1], column) for column in key)) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)
