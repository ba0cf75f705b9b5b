"""An event of a hand, applied. It cannot refuse: what is recorded happened. Source: rulebook K, F, C."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from domain import evolve_circles
from domain.cards import SUIT
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    CommissionTaken,
    Declared,
    Event,
    FinePaid,
    FourAcesShown,
    HandSettled,
    HandStarted,
    HandVoided,
    SharePaid,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
)
from domain.games import game_of
from domain.hand import (
    Declaring,
    Finished,
    Hand,
    Over,
    Played,
    Player,
    Playing,
    TrickFull,
    Unturned,
    at,
    clockwise,
    misplaced,
    with_player,
)
from domain.money import amount


def opening(event: HandStarted) -> Hand:
    """T4, T5: the hand as it starts, the antes in the bank and no card dealt."""
    table = event.table
    settings = table.settings
    players = tuple(
        [
            Player(
                seat=s.seat,
                player=s.player,
                purse=s.purse - event.ante,
                paid_in=event.ante,
                time_bank_ms=settings.time_bank_ms,
            )
            for s in table.seats
            if s.seat in event.dealt_in
        ]
    )
    return Hand(
        hand_id=event.hand_id,
        options=settings.options,
        rules=settings.rules,
        stake=settings.stake,
        commission_bps=settings.commission_bps,
        seats=event.dealt_in,
        players=players,
        dealer=event.dealer,
        carried=table.carried_bank,
        bank=table.carried_bank + event.ante * len(players),
    )


def _dealt(hand: Hand, event: CardsDealt) -> Hand:
    """K2, F2: one card at a time from the dealer's left; nothing of an earlier deal counts."""
    order = clockwise(hand, hand.dealer)
    count = len(order)
    dealt = count * game_of(hand.options, hand.rules).hand_size
    players = []
    for p in hand.players:
        cards = event.deck[order.index(p.seat) : dealt : count]
        players.append(
            replace(p, dealt=cards, cards=cards, status="", said="", replaced=False, looked=False, clock_acted=False)
        )
    return replace(
        hand,
        players=tuple(players),
        deal_no=event.deal_no,
        circle=0,
        deck=event.deck,
        stock=dealt,
        trump_card=None,
        trump="",
        trump_taken=False,
        phase=Unturned(),
    )


def _turned(hand: Hand, event: TrumpTurned) -> Hand:
    """K2, K9: the earlier trump card, if any, goes to the discards."""
    return replace(
        hand,
        trump_card=event.card,
        trump=SUIT[event.card],
        stock=hand.stock + 1,
        circle=event.circle,
        phase=Declaring(clockwise(hand, hand.dealer)),
    )


def _looked(hand: Hand, event: CardsLooked) -> Hand:
    return replace(hand, players=with_player(hand, replace(at(hand, event.seat), looked=True)))


def _bank_topped_up(hand: Hand, event: BankToppedUp) -> Hand:
    p = at(hand, event.seat)
    player = replace(p, purse=p.purse - event.amount, paid_in=p.paid_in + event.amount)
    return replace(hand, players=with_player(hand, player), bank=amount(hand.bank + event.amount))


def _time_bank_used(hand: Hand, event: TimeBankUsed) -> Hand:
    p = at(hand, event.seat)
    return replace(hand, players=with_player(hand, replace(p, time_bank_ms=p.time_bank_ms - event.ms)))


def _aces_shown(hand: Hand, event: FourAcesShown) -> Hand:
    player = replace(at(hand, event.seat), tricks=len(event.cards))
    return replace(hand, players=with_player(hand, player), phase=Finished("four_aces"))


def _played(hand: Hand, event: CardPlayed) -> Hand:
    phase = hand.phase
    assert type(phase) is Playing, misplaced(hand, event)
    # A third of all events: written out, without `at` and `with_player`, 1.1 µs against 1.4.
    players, i = list(hand.players), hand.seats.index(event.seat)
    cards = players[i].cards
    gone = cards.index(event.card)
    players[i] = replace(players[i], cards=cards[:gone] + cards[gone + 1 :])
    trick = (*phase.trick, Played(event.seat, event.card))
    rest = phase.queue[1:]
    return replace(hand, players=tuple(players), phase=Playing(trick, rest) if rest else TrickFull(trick))


def _trick_taken(hand: Hand, event: TrickTaken) -> Hand:
    """K14: the taker leads; all in play have played to the trick, in their order."""
    full = hand.phase
    assert type(full) is TrickFull, misplaced(hand, event)
    before = at(hand, event.seat)
    player = replace(before, tricks=before.tricks + 1)
    order = tuple([p.seat for p in full.trick])
    phase = Playing((), evolve_circles.round_from(order, event.seat)) if player.cards else Finished("played")
    return replace(hand, players=with_player(hand, player), tricks_played=event.trick, phase=phase)


def _share_paid(hand: Hand, event: SharePaid) -> Hand:
    return _moved(hand, event.seat, event.amount, -event.amount)


def _commission_taken(hand: Hand, event: CommissionTaken) -> Hand:
    return _moved(hand, event.seat, -event.amount, 0)


def _fine_paid(hand: Hand, event: FinePaid) -> Hand:
    return _moved(hand, event.seat, -event.paid, event.paid)


def _moved(hand: Hand, seat: int, purse: int, bank: int) -> Hand:
    """The money moves with each event: purses and bank come to the same sum after every one but a commission."""
    p = at(hand, seat)
    return replace(hand, players=with_player(hand, replace(p, purse=p.purse + purse)), bank=hand.bank + bank)


def _settled(hand: Hand, event: HandSettled) -> Hand:
    return replace(hand, phase=Over(event.result))


def _voided(hand: Hand, event: HandVoided) -> Hand:
    """T12: what was paid in goes back."""
    back = {r.seat: r.amount for r in event.returned}
    players = tuple([replace(p, purse=p.purse + back.get(p.seat, 0)) for p in hand.players])
    return replace(hand, players=players, bank=hand.bank - sum(back.values()), phase=Over(event.result))


HANDLERS: dict[type[Event], Callable[[Hand, Any], Hand]] = {
    CardsDealt: _dealt,
    TrumpTurned: _turned,
    CardsLooked: _looked,
    Declared: evolve_circles.declared,
    CardsDiscarded: evolve_circles.discarded,
    CardsDrawn: evolve_circles.drawn,
    BankToppedUp: _bank_topped_up,
    TimeBankUsed: _time_bank_used,
    FourAcesShown: _aces_shown,
    CardPlayed: _played,
    TrickTaken: _trick_taken,
    SharePaid: _share_paid,
    CommissionTaken: _commission_taken,
    FinePaid: _fine_paid,
    HandSettled: _settled,
    HandVoided: _voided,
}
"""A table of handlers, since a `match` over so many types costs more; a test checks that it is complete."""


def evolve_hand(hand: Hand, event: Event) -> Hand:
    """The hand after `event`, which must be one of `HANDLERS`."""
    return HANDLERS[type(event)](hand, event)


def fold(hand: Hand, events: Iterable[Event]) -> Hand:
    """The hand after all of `events`."""
    handlers = HANDLERS
    for event in events:
        hand = handlers[type(event)](hand, event)
    return hand
