"""Reading the search: the ids of hands that are wanted, the last to end first."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from domain.money import MAX_AMOUNT
from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of
from projections.search.projection import Flag

NAME = "search"
HERE = Path(__file__).parent
BY_PLAYER = (HERE / "by_player.sql").read_text()
BY_TABLE = (HERE / "by_table.sql").read_text()
BY_FLAG = (HERE / "by_flag.sql").read_text()
BY_END = (HERE / "by_end.sql").read_text()
EVER = 2**62
"""A moment after all others, in milliseconds."""
LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class Wanted(Struct, frozen=True, kw_only=True):
    """What is asked of a hand; all of it must hold. It ended from `from_ms` until before `to_ms`; its bank (T6) is from
    `min_bank` to `max_bank`, in minor units."""

    player: str | None = None
    table_id: str | None = None
    flag: Flag | None = None
    from_ms: int = 0
    to_ms: int = EVER
    min_bank: int = 0
    max_bank: int = MAX_AMOUNT


class _Found(Struct, frozen=True):
    hand_id: str
    ended_ms: int


async def search(reader: ProjectionReader, wanted: Wanted, *, cursor: str | None = None, limit: int = 50) -> Page[str]:
    """A page of hand ids. Raises BadCursor and Fault.

    Each query walks one index from its end, that of the condition which leaves the fewest hands.
    """
    before_ms, before_id = values_of(cursor, tuple[int, str]) if cursor else (EVER, LAST_ID)
    place = {"before_ms": before_ms, "before_id": before_id, "limit": limit + 1}
    given = msgspec.structs.asdict(wanted) | place
    if wanted.player is not None:
        text = BY_PLAYER
    elif wanted.table_id is not None:
        text = BY_TABLE
    else:
        text = BY_FLAG if wanted.flag is not None else BY_END
    found = await reader.rows(NAME, text, given, _Found)
    more = cursor_of(found[limit - 1].ended_ms, found[limit - 1].hand_id) if len(found) > limit else None
    return Page(tuple(each.hand_id for each in found[:limit]), more)
