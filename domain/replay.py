"""A hand that is over, event by event, as an audience may see it: the table after each, and by which clauses it came.

The table is folded from the events and shown by `domain.views`, field by field; cards are added for those who may see
them. So a player sees at each step what he saw then, and nothing in hindsight. Source: rulebook S6, H7, F2, K11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from domain.cards import Card
from domain.citing import clauses_of
from domain.events import CardPlayed, CardsDiscarded, CardsDrawn, CardsLooked, Declared, Event, HandStarted
from domain.evolve import evolve
from domain.halves import public_event
from domain.hand import Hand, Owing, at
from domain.legal import Offer, offers
from domain.table import Table
from domain.views import HandView, legal_actions, own_cards, view


class At(Struct, frozen=True):
    """An event, its number in the table's stream, and when it was recorded (milliseconds since 1970 UTC)."""

    seq: int
    at_ms: int
    event: Event


class HeldCards(Struct, frozen=True, kw_only=True):
    """The cards that the player at `seat` holds."""

    seat: int
    cards: tuple[Card, ...]


class Shown(Struct, frozen=True, kw_only=True):
    """One event, and the hand after it.

    `event` is its public half, with `cards` where the audience may see what was thrown or drawn. `offered` is what the
    player could have done, None where nobody acted or the audience may not know. `held` are the hands that lie open to
    the audience, `stock` the cards still to come, None where they are hidden.
    """

    seq: int
    at_ms: int
    event: dict[str, Any]
    clauses: tuple[str, ...]
    offered: tuple[Offer, ...] | None
    hand: HandView
    held: tuple[HeldCards, ...]
    stock: tuple[Card, ...] | None


def shown(events: Iterable[At], player: str | None) -> Iterator[Shown]:
    """The steps of a hand from `HandStarted` on, as `player` saw it, or with all cards where it is None.

    The caller has made sure that the audience is entitled to it (S6). Raises ValueError where the events begin later.
    """
    table: Table | None = None
    for each in events:
        if table is None and not isinstance(each.event, HandStarted):
            raise ValueError("a replay begins with a hand's start")
        before, table = table, evolve(table, each.event, each.at_ms)
        yield _shown(each, before, table, player)


def _shown(each: At, before: Table | None, after: Table, player: str | None) -> Shown:
    event = each.event
    hand = after.hand
    seen = view(after, None).hand
    assert hand is not None and seen is not None, each.seq  # noqa: PT018  # for the type checker
    return Shown(
        seq=each.seq,
        at_ms=each.at_ms,
        event=public_event(event) | _cards(event, before, after, player),
        clauses=clauses_of(None if before is None else before.hand, event),
        offered=_offered(event, before, player),
        hand=seen,
        held=_held(hand, after, player),
        stock=hand.deck[hand.stock :] if player is None else None,
    )


def _held(hand: Hand, table: Table, player: str | None) -> tuple[HeldCards, ...]:
    if player is None:
        return tuple(HeldCards(seat=p.seat, cards=p.cards) for p in hand.players)
    mine = own_cards(table, player)
    if mine is None:
        return ()
    return tuple(HeldCards(seat=p.seat, cards=mine) for p in hand.players if p.player == player)


def _cards(event: Event, before: Table | None, after: Table, player: str | None) -> dict[str, Any]:
    """What was thrown or drawn. F2: who throws his hand without having looked does not see what goes."""
    if not isinstance(event, CardsDiscarded | CardsDrawn):
        return {}
    assert before is not None and before.hand is not None, event.hand_id  # noqa: PT018
    if player is not None:
        if at(before.hand, event.seat).player != player:
            return {}
        looked = after if isinstance(event, CardsDrawn) or isinstance(before.hand.phase, Owing) else before
        if own_cards(looked, player) is None:
            return {}
    return {"cards": event.cards}


def _offered(event: Event, before: Table | None, player: str | None) -> tuple[Offer, ...] | None:
    """What a player's own act was chosen from; it tells of his cards, so it is for those who see them."""
    if not isinstance(event, CardPlayed | CardsDiscarded | CardsDrawn | CardsLooked | Declared):
        return None
    assert before is not None and before.hand is not None, event  # noqa: PT018
    if player is None:
        return offers(before.hand, event.seat) or None
    if at(before.hand, event.seat).player != player:
        return None
    return legal_actions(before, player) or None
