"""Reading the players."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of

NAME = "players"
HERE = Path(__file__).parent
TABLES_OF = (HERE / "tables_of.sql").read_text()
RESULTS_OF = (HERE / "results_of.sql").read_text()


class PlayerTable(Struct, frozen=True, kw_only=True):
    """A table where the player sits."""

    table_id: str
    seat: int
    since_ms: int
    game: str
    currency: str
    stake: int


class PlayerResults(Struct, frozen=True, kw_only=True):
    """The settled hands of a player in one currency; `net` is what they and returned banks brought, in minor units."""

    currency: str
    hands: int
    net: int


async def tables_of(
    reader: ProjectionReader, player: str, *, cursor: str | None = None, limit: int = 50
) -> Page[PlayerTable]:
    """A page of the tables where `player` sits, in the order in which they were opened. Raises BadCursor and Fault."""
    after = values_of(cursor, tuple[str])[0] if cursor else None
    found = await reader.rows(NAME, TABLES_OF, {"player": player, "after": after, "limit": limit + 1}, PlayerTable)
    more = cursor_of(found[limit - 1].table_id) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)


async def results_of(reader: ProjectionReader, player: str) -> tuple[PlayerResults, ...]:
    """What `player` has played, by currency. Raises Fault."""
    return tuple(await reader.rows(NAME, RESULTS_OF, {"player": player}, PlayerResults))
