"""What the plays of a hand say of the cards that were held and not shown. Source: rulebook H7, K15, T11."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from domain.cards import Card
from domain.events import By
from domain.handfile.file import FileAction
from domain.legal import following, lowest_first


class Moment(Struct, frozen=True):
    """A player's play: the card led to the trick (None where he led), the card he played, and who acted."""

    led: Card | None
    card: Card
    by: By


def moments(actions: Iterable[FileAction]) -> dict[int, tuple[Moment, ...]]:
    """The plays of each seat. A trick ends where a seat plays that has played to it already."""
    found: dict[int, tuple[Moment, ...]] = {}
    led: Card | None = None
    trick: set[int] = set()
    for action in actions:
        if action.card is None:
            continue
        if action.seat in trick:
            led, trick = None, set()
        trick.add(action.seat)
        found[action.seat] = (*found.get(action.seat, ()), Moment(led, action.card, action.by))
        led = led or action.card
    return found


def holdable(plays: Iterable[Moment], card: Card, trump: str) -> bool:
    """Whether he who made these plays may have held `card` all the while: with it, each play was legal.

    The duty to follow looks at one card at a time, so a hand of two, this card and the one played, is enough.
    """
    for moment in plays:
        legal = following((moment.card, card), moment.led, trump)
        if moment.card not in legal or (moment.by == "clock" and lowest_first(legal, trump)[0] != moment.card):
            return False
    return True
