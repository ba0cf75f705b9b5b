"""Reading the hands: one, a table's, a player's, the newest first."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of

NAME = "hands"
HERE = Path(__file__).parent
ONE_HAND = (HERE / "hand.sql").read_text()
HANDS_OF_TABLE = (HERE / "hands_of_table.sql").read_text()
HANDS_OF_PLAYER = (HERE / "hands_of_player.sql").read_text()


class HandPlayer(Struct, frozen=True, kw_only=True):
    """A dealt-in player; amounts in minor units. All but the first three are None while the hand runs.

    What the hand brought him is `purse_after - purse_before`.
    """

    seat: int
    player: str
    purse_before: int
    status: str | None = None
    tricks: int | None = None
    share: int | None = None
    commission: int | None = None
    fine_due: int | None = None
    fine_paid: int | None = None
    purse_after: int | None = None


class HandRow(Struct, frozen=True, kw_only=True):
    """A hand; its events are those of `table-<table_id>` from `first_seq` to `last_seq`.

    `ended_ms` to `carried_bank` are None while it runs. `ending` is `voided` where `void_cause` and `void_reason` are
    there. `disclosed_to` is who may see the seed (S6), None before it is disclosed.
    """

    hand_id: str
    table_id: str
    hand_no: int
    game: str
    rules: int
    currency: str
    stake: int
    dealer: int
    commitment: str
    started_ms: int
    first_seq: int
    ended_ms: int | None
    last_seq: int | None
    ending: str | None
    bank: int | None
    carried_bank: int | None
    void_cause: str | None
    void_reason: str | None
    disclosed_to: str | None
    players: tuple[HandPlayer, ...]


async def hand(reader: ProjectionReader, hand_id: str) -> HandRow | None:
    """One hand, or None. `hand_id` is a UUID's text. Raises Fault."""
    found = await reader.rows(NAME, ONE_HAND, {"hand_id": hand_id}, HandRow)
    return found[0] if found else None


async def hands_of_table(
    reader: ProjectionReader, table_id: str, *, cursor: str | None = None, limit: int = 50
) -> Page[HandRow]:
    """A page of a table's hands, the newest first. Raises BadCursor and Fault."""
    before = values_of(cursor, tuple[int])[0] if cursor else None
    given = {"table_id": table_id, "before": before, "limit": limit + 1}
    found = await reader.rows(NAME, HANDS_OF_TABLE, given, HandRow)
    more = cursor_of(found[limit - 1].first_seq) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)


async def hands_of_player(
    reader: ProjectionReader, player: str, *, cursor: str | None = None, limit: int = 50
) -> Page[HandRow]:
    """A page of the hands that a player was dealt into, at all tables, the newest first. Raises BadCursor and Fault."""
    before_ms, before_id = values_of(cursor, tuple[int, str]) if cursor else (None, None)
    given = {"player": player, "before_ms": before_ms, "before_id": before_id, "limit": limit + 1}
    found = await reader.rows(NAME, HANDS_OF_PLAYER, given, HandRow)
    more = cursor_of(found[limit - 1].started_ms, found[limit - 1].hand_id) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)
