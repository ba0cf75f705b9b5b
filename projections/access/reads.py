"""Reading the looks, the newest first."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of

NAME = "access"
LOOKS = (Path(__file__).parent / "looks.sql").read_text()
LAST = 2**62


class Look(Struct, frozen=True, kw_only=True):
    """A privileged look at a hand's hidden cards; `what`: a view, a file or a bundle. `seq` is the event's number."""

    seq: int
    at_ms: int
    person: str
    hand_id: str
    table_id: str
    what: str
    reason: str


async def looks(
    reader: ProjectionReader,
    *,
    hand_id: str | None = None,
    person: str | None = None,
    from_ms: int = 0,
    to_ms: int = LAST,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Look]:
    """A page of the looks from `from_ms` until before `to_ms`. Raises BadCursor and Fault."""
    (before,) = values_of(cursor, tuple[int]) if cursor else (LAST,)
    given = {
        "before": before,
        "from_ms": from_ms,
        "to_ms": to_ms,
        "hand_id": hand_id,
        "person": person,
        "limit": limit + 1,
    }
    found = await reader.rows(NAME, LOOKS, given, Look)
    more = cursor_of(found[limit - 1].seq) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)
