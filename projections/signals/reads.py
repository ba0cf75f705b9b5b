"""Reading the signals: by kind, within a kind the strongest first."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader
from projections.paging import Page, cursor_of, values_of
from projections.signals.definitions import LISTED_FROM, Kind

NAME = "signals"
SIGNALS = (Path(__file__).parent / "signals.sql").read_text()
NEWEST = 20
"""So many hands are named with each signal."""
STRONGEST = 2**62


class RestsOn(Struct, frozen=True, kw_only=True):
    """A hand that a signal rests on, and how much of it."""

    hand_id: str
    table_id: str
    ended_ms: int
    times: int
    amount: int


class Signal(Struct, frozen=True, kw_only=True):
    """A player, or he and another, whom people should look at; what each number counts, `definitions` says.

    `hands` are all of his that are over, `hands_seen` those that it rests on; the newest of these are in `rests_on`.
    Amounts are minor units. `weight` is what it is ordered by.
    """

    kind: Kind
    player: str
    other: str | None
    currency: str
    hands: int
    times: int
    chances: int
    amount: int
    won: int
    time_bank_ms: int
    by_ops: int
    weight: int
    hands_seen: int
    rests_on: tuple[RestsOn, ...]


async def signals(
    reader: ProjectionReader,
    *,
    kind: Kind | None = None,
    player: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Signal]:
    """A page of them; `player` may be either of a pair. Raises BadCursor and Fault."""
    after_kind, weight, after_player, other, currency = (
        values_of(cursor, tuple[str, int, str, str, str]) if cursor else ("", STRONGEST, "", "", "")
    )
    given = {
        **LISTED_FROM,
        "kind": kind,
        "player": player,
        "after_kind": after_kind,
        "weight": weight,
        "after_player": after_player,
        "other": other,
        "currency": currency,
        "newest": NEWEST,
        "limit": limit + 1,
    }
    found = await reader.rows(NAME, SIGNALS, given, Signal)
    last = found[limit - 1] if len(found) > limit else None
    more = None if last is None else cursor_of(last.kind, last.weight, last.player, last.other or "", last.currency)
    return Page(tuple(found[:limit]), more)
