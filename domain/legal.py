"""Legality, computed in one place: what a player may do now, and why something else is refused.

`offers` is the only judge; `judge`, the views and the clock ask it. Source: rulebook K, F, C, T11 and H3.
"""

from __future__ import annotations

from msgspec import Struct

from domain.actions import Action
from domain.cards import RANK, SUIT, SUITS, Card
from domain.games import game_of
from domain.games.game import Game
from domain.hand import (
    Answering,
    Cutting,
    Declaring,
    Drawing,
    Hand,
    Over,
    Owing,
    Player,
    Playing,
    asked,
    at,
    find,
    stock_left,
)
from domain.refusal import Code, Refused


class Offer(Struct, frozen=True, omit_defaults=True):
    """One choice. For a discard, a draw or a play it names the cards and how many of them (`least` to `most`)."""

    do: str
    cards: tuple[Card, ...] = ()
    least: int = 0
    most: int = 0


LOOK = Offer("look")


def offers(hand: Hand, seat: int) -> tuple[Offer, ...]:
    """Everything that the player at `seat` may do now; empty where he is not asked and has nothing to look at."""
    player = find(hand, seat)
    if player is None or type(hand.phase) is Over:
        return ()
    game = game_of(hand.options, hand.rules)
    choices = _choices(game, hand, player) if asked(hand) == seat else ()
    return (*choices, LOOK) if game.looking and not player.looked and player.cards else choices


def _choices(game: Game, hand: Hand, player: Player) -> tuple[Offer, ...]:
    phase = hand.phase
    # By type: see `asked`.
    if type(phase) is Playing:
        led = phase.trick[0].card if phase.trick else None
        return (Offer("play", following(player.cards, led, hand.trump), 1, 1),)
    if type(phase) is Declaring:
        return tuple([Offer(word) for word in game.declarations(hand, player)])
    if type(phase) is Answering:
        return tuple([Offer(word) for word in game.answers(hand, player)])
    if type(phase) is Cutting:
        return tuple([Offer(word) for word in game.cuts(hand)])
    if type(phase) is Drawing:
        return (Offer("draw", player.cards, 0, min(game.hand_size, stock_left(hand))),)
    assert type(phase) is Owing, f"{type(phase).__name__} asks nobody"
    return (Offer("discard", player.cards, phase.count, phase.count),)


def following(cards: tuple[Card, ...], led: Card | None, trump: str) -> tuple[Card, ...]:
    """K15: those of `cards` that may be played to `led`: its suit, else a trump, else any."""
    if led is None:
        return cards
    suit = SUIT[led]
    same = tuple([c for c in cards if SUIT[c] == suit])
    if same:
        return same
    trumps = tuple([c for c in cards if SUIT[c] == trump])
    return trumps or cards


def judge(hand: Hand, seat: int, action: Action) -> Refused | None:
    """H3: the reason why `action` is refused, or None where it is legal. The order of the tests is H3's."""
    if type(hand.phase) is Over:
        return Refused("hand_over", "H3", "the hand is over; wait for the next one")
    player = find(hand, seat)
    if player is None:
        return Refused("not_in_hand", "T4", f"seat {seat} is not dealt into this hand")
    offered = offers(hand, seat)
    offer = next((o for o in offered if o.do == action.do), None)
    if offer is None:
        # A look is open out of turn to who has not looked; to all others it is a word like any (F2, C1).
        if asked(hand) != seat and not (action.do == "look" and game_of(hand.options, hand.rules).looking):
            return Refused("not_your_turn", clause(hand), f"it is the turn of seat {asked(hand)}, not of seat {seat}")
        words = ", ".join(o.do for o in offered) or "nothing"
        return Refused(
            "not_offered", _word_clause(hand, action.do), f"{action.do!r} is not offered now; offered: {words}"
        )
    named = (action.card,) if action.card is not None else action.cards or ()
    return _judge_cards(hand, player, offer, named)


def _judge_cards(hand: Hand, player: Player, offer: Offer, named: tuple[Card, ...]) -> Refused | None:
    for i, card in enumerate(named):
        if card not in player.cards or card in named[:i]:
            pointer = game_of(hand.options, hand.rules).play_clause if offer.do == "play" else clause(hand)
            return Refused("card_not_held", pointer, f"{card} is not among the cards held")
    if not offer.least <= len(named) <= offer.most:
        span = str(offer.most) if offer.least == offer.most else f"{offer.least} to {offer.most}"
        return Refused("wrong_discard_count", clause(hand), f"{len(named)} cards named, {span} would be right")
    if offer.do == "play" and named[0] not in offer.cards:
        assert isinstance(hand.phase, Playing)
        led = SUIT[hand.phase.trick[0].card]
        code: Code = "must_follow_suit" if SUIT[offer.cards[0]] == led else "must_trump"
        return Refused(code, "K15", f"{named[0]} may not be played to this trick; legal: {', '.join(offer.cards)}")
    return None


def clause(hand: Hand) -> str:
    """The clause under which the player on turn is asked."""
    game = game_of(hand.options, hand.rules)
    if isinstance(hand.phase, Owing):
        return game.debt_clauses[at(hand, hand.phase.seat).status]
    return game.clauses[type(hand.phase)]


def _word_clause(hand: Hand, word: str) -> str:
    """The clause of a word that is not offered: its own where it is a word of this moment, else the moment's."""
    if word == "look" or isinstance(hand.phase, Declaring):
        return game_of(hand.options, hand.rules).word_clauses.get(word) or clause(hand)
    return clause(hand)


def clock_action(hand: Hand) -> Action:
    """T11: what the clock does for the player who is asked."""
    seat = asked(hand)
    assert seat is not None, hand.phase
    player = at(hand, seat)
    game = game_of(hand.options, hand.rules)
    match hand.phase:
        case Answering():
            return Action(do=game.declines)
        case Declaring() | Cutting():
            return Action(do="pass")
        case Drawing():
            return Action(do="draw", cards=())
        case Owing(_, count):
            return Action(do="discard", cards=lowest_first(player.cards, hand.trump)[:count])
        case _:
            (offer,) = (o for o in offers(hand, seat) if o.do == "play")
            return Action(do="play", card=lowest_first(offer.cards, hand.trump)[0])


def lowest_first(cards: tuple[Card, ...], trump: str) -> tuple[Card, ...]:
    """T11: the order in which the clock gives cards away: rank, then suit s h d c, trumps last."""
    return tuple(sorted(cards, key=lambda c: (SUIT[c] == trump, RANK[c], SUITS.index(SUIT[c]))))


def forced(hand: Hand) -> bool:
    """T11: whether facts known to all leave the player who is asked one choice."""
    phase = hand.phase
    if type(phase) is Playing:
        return len(at(hand, phase.queue[0]).cards) == 1
    if type(phase) is Cutting:
        return game_of(hand.options, hand.rules).cuts(hand) == ("pass",)
    return type(phase) is Drawing and stock_left(hand) == 0
