"""An action of a hand → the events it makes, with all that follows by the rules. Source: rulebook K, F, C."""

from __future__ import annotations

from collections.abc import Iterable

from domain.actions import Action
from domain.consequences import Decks, consequences
from domain.events import (
    By,
    CardPlayed,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    Declared,
    Event,
)
from domain.evolve_hand import evolve_hand
from domain.hand import Hand
from domain.legal import judge
from domain.refusal import Refused


def act(hand: Hand, seat: int, action: Action, by: By, decks: Decks) -> tuple[Event, ...] | Refused:
    """The events of `action`, or why it is refused. Raises AmountOverflow (N)."""
    refused = judge(hand, seat, action)
    if refused is not None:
        return refused
    return follow(hand, recorded(hand, seat, action, by), decks)


def recorded(hand: Hand, seat: int, action: Action, by: By) -> tuple[Event, ...]:
    """The events of `action` itself, unjudged and without what follows."""
    match action.do:
        case "play":
            assert action.card is not None
            return (CardPlayed(seat=seat, card=action.card, by=by),)
        case "discard":
            assert action.cards is not None
            return (_discarded(hand, seat, action, by),)
        case "draw":
            assert action.cards is not None
            count = len(action.cards)
            cards = hand.deck[hand.stock : hand.stock + count]
            drawn = CardsDrawn(hand_id=hand.hand_id, seat=seat, count=count, by=by, cards=cards)
            return (_discarded(hand, seat, action, by), drawn) if count else (drawn,)
        case "look":
            return (CardsLooked(seat=seat),)
        case word:
            return (Declared(seat=seat, do=word, by=by),)


def _discarded(hand: Hand, seat: int, action: Action, by: By) -> CardsDiscarded:
    cards = action.cards or ()
    return CardsDiscarded(hand_id=hand.hand_id, seat=seat, count=len(cards), by=by, cards=cards)


def follow(hand: Hand, events: Iterable[Event], decks: Decks) -> tuple[Event, ...]:
    """`events` and everything that follows from them until a player is asked or the hand is over."""
    return unfold(hand, events, decks)[0]


def unfold(hand: Hand, events: Iterable[Event], decks: Decks) -> tuple[tuple[Event, ...], Hand]:
    """As `follow`, with the hand after them."""
    done: list[Event] = []
    batch = tuple(events)
    while batch:
        for event in batch:
            hand = evolve_hand(hand, event)
        done.extend(batch)
        batch = consequences(hand, decks)
    return tuple(done), hand
