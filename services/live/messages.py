"""What goes over an event stream, as bytes of the `text/event-stream` form.

Messages of a table: first `snapshot` (the audience's whole view) or none where the client resumes, then an `event` for
each recorded event, with `id:` its number; `end` says why a stream ends. The same event gives the same audience the
same bytes whenever it is sent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from domain.events import TimeBankUsed
from domain.table import seat_of
from domain.views import TurnView, legal_actions, turn_view
from services.play.answers import step_view
from services.play.types import Step

PING = b": ping\n\n"
OPENING = b"retry: 1000\n\n"

_encode = msgspec.json.Encoder().encode


def message(event: str, data: Any, number: int | None = None) -> bytes:
    """One message; JSON has no line ends, so `data:` is one line."""
    head = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (head, event.encode(), _encode(data))


def step_message(step: Step, player: str | None) -> bytes:
    """A recorded event for `player`, or for a spectator: `seq`, `at`, its public half, own `cards`; where a decision is
    open after it `turn`, and for who sits at the table his own `legal_actions` beside it."""
    return message("event", {**step_view(step, player), **_opened(step, player)}, step.seq)


def _opened(step: Step, player: str | None) -> dict[str, Any]:
    # What a decision took of the time bank is recorded before the action that ends it: that decision is not open.
    turn: TurnView | None = None if isinstance(step.event, TimeBankUsed) else turn_view(step.after)
    if turn is None:
        return {}
    if player is None or seat_of(step.after, player) is None:
        return {"turn": turn}
    return {"turn": turn, "legal_actions": legal_actions(step.after, player)}


def end(reason: str) -> bytes:
    """The last message of a stream: why it ends."""
    return message("end", {"reason": reason})
