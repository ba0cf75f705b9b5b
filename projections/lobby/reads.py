"""Reading the lobby: a page of tables in the order in which they were opened, and what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.lobby.projection import LobbyTable
from projections.paging import Page, cursor_of, values_of

NAME = "lobby"
HERE = Path(__file__).parent
CENSUS = (HERE / "census.sql").read_text()
HALTED_TABLES = (HERE / "halted_tables.sql").read_text()
OPEN_TABLES = (HERE / "open_tables.sql").read_text()
ONE_TABLE = (HERE / "lobby_table.sql").read_text()
CHANGED_TABLES = (HERE / "changed_tables.sql").read_text()
TABLES_VECTOR = (HERE / "tables_vector.sql").read_text()


class Census(Struct, frozen=True):
    """How many tables are open, how many of them have a hand under way, how many are halted."""

    open: int
    playing: int
    halted: int


class HaltedTable(Struct, frozen=True):
    """An open table that is halted, and why."""

    table_id: str
    reason: str


class _Changed(LobbyTable, frozen=True, kw_only=True):
    part: int
    pos: int


class _At(Struct):
    part: int
    pos: int


async def open_tables(
    reader: ProjectionReader,
    *,
    cursor: str | None = None,
    limit: int = 50,
    game: str | None = None,
    currency: str | None = None,
    with_room: bool = False,
) -> Page[LobbyTable]:
    """A page of the open tables, the first opened first. Raises BadCursor and Fault."""
    after = values_of(cursor, tuple[str])[0] if cursor else None
    given = {"after": after, "limit": limit + 1, "game": game, "currency": currency, "with_room": with_room}
    found = await reader.rows(NAME, OPEN_TABLES, given, LobbyTable)
    more = cursor_of(found[limit - 1].table_id) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)


async def census(reader: ProjectionReader) -> Census:
    """The tables counted. Raises Fault."""
    (found,) = await reader.rows(NAME, CENSUS, {}, Census)
    return found


async def halted_tables(reader: ProjectionReader, limit: int = 50) -> tuple[HaltedTable, ...]:
    """The halted tables, the first opened first. Raises Fault."""
    return tuple(await reader.rows(NAME, HALTED_TABLES, {"limit": limit}, HaltedTable))


async def lobby_table(reader: ProjectionReader, table_id: str) -> LobbyTable | None:
    """One table, closed or not; None where there is none. `table_id` is a UUID's text. Raises Fault."""
    found = await reader.rows(NAME, ONE_TABLE, {"table_id": table_id}, LobbyTable)
    return found[0] if found else None


async def tables_vector(reader: ProjectionReader) -> dict[int, int]:
    """Where the lobby is now, for `changed_tables`: part → position. Raises Fault."""
    return {at.part: at.pos for at in await reader.rows(NAME, TABLES_VECTOR, {}, _At)}


async def changed_tables(
    reader: ProjectionReader, since: Mapping[int, int]
) -> tuple[tuple[LobbyTable, ...], dict[int, int]]:
    """The tables that changed after `since`, each as it is now, and the vector to ask with next. Raises Fault.

    Exact whoever applies what when, as positions count within a part: nothing is skipped, nothing comes twice.
    """
    given = {"parts": list(since), "positions": list(since.values())}
    found = await reader.rows(NAME, CHANGED_TABLES, given, _Changed)
    vector = {**since, **{each.part: each.pos for each in found}}
    return tuple(msgspec.convert(each, LobbyTable, from_attributes=True) for each in found), vector
