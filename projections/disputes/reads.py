"""Reading the disputes: what is overdue first (R3), what is closed last, each by age; and those whose time is over."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of

NAME = "disputes"
HERE = Path(__file__).parent
DISPUTES = (HERE / "disputes.sql").read_text()
DUE = (HERE / "due.sql").read_text()
KEYS_LEFT = (HERE / "keys_left.sql").read_text()
CORRECTED = (HERE / "corrected.sql").read_text()
NIL = "00000000-0000-0000-0000-000000000000"


class DisputeRow(Struct, frozen=True, kw_only=True):
    """A dispute as it stands: `phase` is `open`, `judged` or `closed`, `due_ms` when the clock has to do with it.

    `outcome` is None before a verdict. `overdue` counts the deadlines missed for it, `proposals` those that wait for a
    second signature, `paid` is what was compensated, in minor units.
    """

    dispute_id: str
    hand_id: str
    table_id: str
    currency: str
    opener: str
    role: str
    opened_ms: int
    changed_ms: int
    phase: str
    closed: bool
    outcome: str | None
    due_ms: int | None
    overdue: int
    proposals: int
    paid: int
    corrected: bool
    erased: bool


async def disputes(
    reader: ProjectionReader,
    *,
    opener: str | None = None,
    hand_id: str | None = None,
    phase: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[DisputeRow]:
    """A page of them: what is overdue, what is not closed, what is; by age. Raises BadCursor and Fault."""
    closed, in_time, opened_ms, dispute_id = (
        values_of(cursor, tuple[bool, bool, int, str]) if cursor else (False, False, -1, NIL)
    )
    given = {
        "closed": closed,
        "in_time": in_time,
        "opened_ms": opened_ms,
        "dispute_id": dispute_id,
        "opener": opener,
        "hand_id": hand_id,
        "phase": phase,
        "limit": limit + 1,
    }
    found = await reader.rows(NAME, DISPUTES, given, DisputeRow)
    last = found[limit - 1] if len(found) > limit else None
    more = None if last is None else cursor_of(last.closed, last.overdue == 0, last.opened_ms, last.dispute_id)
    return Page(tuple(found[:limit]), more)


class _Id(Struct, frozen=True):
    dispute_id: str


async def due_disputes(reader: ProjectionReader, now_ms: int, limit: int = 100) -> list[str]:
    """The disputes whose deadline has passed, the longest ago first. Raises Fault."""
    return [row.dispute_id for row in await reader.rows(NAME, DUE, {"now_ms": now_ms, "limit": limit}, _Id)]


async def keys_left(reader: ProjectionReader) -> list[str]:
    """R6: the erased disputes whose keys are still there. Raises Fault."""
    return [row.dispute_id for row in await reader.rows(NAME, KEYS_LEFT, {}, _Id)]


class _Corrected(Struct, frozen=True):
    corrected: bool


async def is_corrected(reader: ProjectionReader, hand_id: str) -> bool:
    """R5: whether two reviewers put the hand right. Raises Fault."""
    (row,) = await reader.rows(NAME, CORRECTED, {"hand_id": hand_id}, _Corrected)
    return row.corrected
