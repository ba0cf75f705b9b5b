"""A hand file, step by step, as its audience may read it. Source: rulebook H7."""

from __future__ import annotations

from collections.abc import Iterator, Set

from msgspec.structs import replace

from domain.cards import Card
from domain.events import CardsDealt, CardsDiscarded, CardsDrawn, Event
from domain.hand import Hand
from domain.handfile.completing import complete
from domain.handfile.file import HandFile
from domain.handfile.replaying import Step, replay_whole

UNSEEN = Card("??")
"""Stands in a step for a card that a redacted file does not show."""


def replay(file: HandFile) -> Iterator[Step]:
    """The opening, then every action with all that followed, then a voiding by ops. Raises HandFileError.

    Of a redacted file nothing is shown that it does not hold: unseen cards are `UNSEEN`. A card that was played is
    known in hindsight.
    """
    whole = complete(file)
    steps = replay_whole(whole.file, whole.unjudged)
    if file.view is None:
        yield from steps
        return
    known = [{card for card in cards if card is not None} for cards in file.deals]
    # Discards and plays come after the declaration, so they are of the last deal.
    known[-1].update(card for entry in file.actions for card in (entry.card, *(entry.cards or ())) if card is not None)
    deal = 0
    for step in steps:
        events = []
        for event in step.events:
            deal = event.deal_no - 1 if isinstance(event, CardsDealt) else deal
            events.append(_masked(event, known[deal]))
        action = step.action if step.index is None else file.actions[step.index]
        yield replace(step, action=action, events=tuple(events), hand=_masked_hand(step.hand, known[deal]))


def _mask(cards: tuple[Card, ...], known: Set[Card]) -> tuple[Card, ...]:
    return tuple([card if card in known else UNSEEN for card in cards])


def _masked(event: Event, known: Set[Card]) -> Event:
    match event:
        case CardsDealt():
            return replace(event, deck=_mask(event.deck, known))
        case CardsDiscarded() | CardsDrawn():
            return replace(event, cards=_mask(event.cards, known))
        case _:
            return event


def _masked_hand(hand: Hand, known: Set[Card]) -> Hand:
    players = [replace(p, dealt=_mask(p.dealt, known), cards=_mask(p.cards, known)) for p in hand.players]
    return replace(hand, deck=_mask(hand.deck, known), players=tuple(players))
