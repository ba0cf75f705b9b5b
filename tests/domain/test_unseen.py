"""What a seat is offered never depends on cards that it has not seen: pairs of hands that differ in these alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from domain.cards import Card
from domain.events import CardPlayed, CardsDealt, FourAcesShown, TrumpTurned
from domain.games import game_of
from domain.hand import Hand, asked, at
from domain.legal import Offer, clause, forced, judge, offers
from domain.refusal import Refused
from tests.domain.hands import Turn, every_action, for_seeds, random_hand


def sees(hand: Hand, seat: int) -> bool:
    """F2: whether the cards that he holds are open to `seat`."""
    return at(hand, seat).looked or not game_of(hand.options, hand.rules).looking


def seen(turns: tuple[Turn, ...], seat: int) -> Iterator[frozenset[Card]]:
    """After each turn, the cards of the running deal that `seat` has seen."""
    known: set[Card] = set()
    for turn in turns:
        if turn.seat == seat and turn.action is not None:
            known |= set(turn.action.cards or ())
        for event in turn.events:
            match event:
                case CardsDealt():
                    known = set()
                case TrumpTurned() | CardPlayed():
                    known.add(event.card)
                case FourAcesShown():
                    known |= set(event.cards)
                case _:
                    pass
        if sees(turn.after, seat):
            known |= set(at(turn.after, seat).cards)
        yield frozenset(known)


def permuted(rng: random.Random, hand: Hand, known: frozenset[Card]) -> Hand:
    """The same hand with the unseen cards in other places."""
    unseen = [card for card in hand.deck if card not in known]
    anew = dict(zip(unseen, rng.sample(unseen, len(unseen)), strict=True))
    players = [replace(p, dealt=_mapped(p.dealt, anew), cards=_mapped(p.cards, anew)) for p in hand.players]
    return replace(hand, deck=_mapped(hand.deck, anew), players=tuple(players))


def _mapped(cards: tuple[Card, ...], anew: Mapping[Card, Card]) -> tuple[Card, ...]:
    return tuple(anew.get(card, card) for card in cards)


def shown(hand: Hand, seat: int) -> bytes:
    """What `seat` is told of his choices, as bytes; by the count alone until he looks (F2)."""
    own = offers(hand, seat)
    if not sees(hand, seat):
        own = tuple(Offer(o.do, (), o.least, o.most) for o in own)
    asks = None if asked(hand) is None else (clause(hand), forced(hand))
    return msgspec.json.encode((asked(hand), asks, own))


def refusals(hand: Hand, seat: int) -> list[Refused | None]:
    """The answer to everything that `seat` could try; to words alone until he looks."""
    tried = every_action(hand, seat)
    return [judge(hand, seat, a) for a in tried if sees(hand, seat) or (a.card is None and a.cards is None)]


@for_seeds(60)
def test_f2_k2_offers_do_not_depend_on_cards_unseen(seed: int) -> None:
    rng = random.Random(seed)
    turns = random_hand(seed)
    seat = rng.choice(turns[0].before.players).seat
    for turn, known in zip(turns, seen(turns, seat), strict=True):
        other = permuted(rng, turn.after, known)
        assert shown(other, seat) == shown(turn.after, seat)
        if rng.random() < 0.1:
            assert refusals(other, seat) == refusals(turn.after, seat)
