"""Who may see which cards of a hand that is over, and the record of who looked. Source: rulebook S6, DESIGN "Audit".

A player has his own hands. Whole, with every deck and the seed, where the table discloses them to those dealt in (S6),
else as his seat saw them (H7). Compliance has all of every hand, and each look is an event with its reason. A running
hand is nobody's.
"""

from __future__ import annotations

from typing import Any

from litestar import Request

from domain.refusal import Refused
from infra.store import StoredEvent
from projections.hands import HandRow, hand
from services.api.access import What, barred, unseated
from services.api.auth import caller_of
from services.api.house import House, house
from services.api.problems import Refusing, Rejection
from services.play.service import table_stream
from services.play.types import Caller, Refusal

Incoming = Request[Any, Any, Any]


async def ended_hand(request: Incoming, hand_id: str) -> HandRow:
    """The hand, where it is over and the caller's to see. Raises Rejection: it is not told which of these it is not."""
    caller = caller_of(request)
    row = await hand(house(request).reader, hand_id)
    if row is None or row.ended_ms is None or (caller.role == "player" and seat_of(row, caller.subject) is None):
        raise Rejection("not_found", f"there is no hand {hand_id} that is over and yours to see")
    return row


async def record_look(request: Incoming, row: HandRow, what: What, reason: str | None) -> None:
    """Record a privileged look before it is granted. Raises Rejection without a reason, or with one too many; Fault.

    R2, R7: raises Refusing for a reviewer who sits at a table, or was dealt into this hand.
    """
    caller = caller_of(request)
    if caller.role == "compliance":
        if reason is None:
            raise Rejection("invalid", "reason: say why; it is recorded")
        _unless(await barred(house(request).reader, row, caller.subject))
        await house(request).access.looked(caller, row.hand_id, row.table_id, what, reason)
    elif reason is not None:
        raise Rejection("invalid", "reason: for compliance; your own hands you look at without one")


async def no_seat(rooms: House, caller: Caller) -> None:
    """R2: raises Refusing for a reviewer who sits at a table."""
    _unless(await unseated(rooms.reader, caller.subject))


def _unless(refused: Refused | None) -> None:
    if refused is not None:
        raise Refusing(Refusal(refused, 0), shows_game=False)


LOOK_REFUSALS = ("holds_seat", "not_impartial")
"""What a route that shows hidden cards may be refused with."""


def open_to(caller: Caller, row: HandRow) -> bool:
    """S6: whether all cards of the hand are open to him; else what his own seat saw."""
    whole = caller.role == "compliance" or row.disclosed_to == "after_hand"
    assert whole or seat_of(row, caller.subject) is not None, row.hand_id
    return whole


async def stored_hand(rooms: House, row: HandRow, *, before: int = 0) -> list[StoredEvent]:
    """The hand's events as they are stored, and as many as `before` of those that precede them. Raises Fault."""
    assert row.last_seq is not None, row.hand_id
    first = max(1, row.first_seq - before)
    return await rooms.store.read_stream(table_stream(row.table_id), after=first - 1, limit=row.last_seq - first + 1)


def seat_of(row: HandRow, player: str) -> int | None:
    """Where the player was dealt in, or None."""
    return next((p.seat for p in row.players if p.player == player), None)
