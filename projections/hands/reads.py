"""Reading the hands, by their ids; which ones are wanted is the search's business."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader

NAME = "hands"
HERE = Path(__file__).parent
ONE_HAND = (HERE / "hand.sql").read_text()
HANDS_BY_ID = (HERE / "hands_by_id.sql").read_text()


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


async def hands_by_id(reader: ProjectionReader, hand_ids: Sequence[str]) -> tuple[HandRow, ...]:
    """Those of the hands that are there, in the order of `hand_ids`. Raises Fault."""
    found = {row.hand_id: row for row in await reader.rows(NAME, HANDS_BY_ID, {"hand_ids": list(hand_ids)}, HandRow)}
    return tuple(found[each] for each in hand_ids if each in found)
