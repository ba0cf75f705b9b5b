"""What the rules themselves do next, when no player is asked. Source: rulebook K, F, C, T9 to T12."""

from __future__ import annotations

from collections.abc import Callable

from domain.cards import RANK, SUIT, Card
from domain.events import (
    BankToppedUp,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CommissionTaken,
    Event,
    FinePaid,
    FourAcesShown,
    HandSettled,
    HandVoided,
    SeatAmount,
    SharePaid,
    TrickTaken,
    TrumpTurned,
)
from domain.games import game_of
from domain.games.game import Game
from domain.hand import (
    ASKING,
    AcesHeld,
    Exchange,
    Exchanging,
    Finished,
    Hand,
    Over,
    Played,
    TrickFull,
    Unclaimed,
    Undealt,
    Unturned,
    at,
)
from domain.settlement import settle, voided

Decks = Callable[[int], tuple[Card, ...]]
"""From a deal's number within the hand, from 1, to its shuffled deck (S3 to S5)."""


def consequences(hand: Hand, decks: Decks) -> tuple[Event, ...]:
    """The events that follow by the rules alone, up to the next change of phase; none where a player is asked."""
    phase = hand.phase
    # By type: see `asked`. This is asked after every event of a decision.
    if type(phase) in ASKING or type(phase) is Over:
        return ()
    match phase:
        case TrickFull(trick):
            return (TrickTaken(seat=winner(trick, hand.trump), trick=hand.tricks_played + 1),)
        case Exchanging(seat, exchange, _, gone):
            return _exchanged(hand, seat, exchange) if gone else _thrown(hand, seat, exchange)
        case Undealt():
            return (CardsDealt(hand_id=hand.hand_id, deal_no=hand.deal_no + 1, deck=decks(hand.deal_no + 1)),)
        case Unturned():
            return (TrumpTurned(card=hand.deck[hand.stock], circle=hand.circle + 1),)
        case Unclaimed():
            return _unclaimed(game_of(hand.options, hand.rules), hand, decks)
        case AcesHeld(seat):
            aces = tuple(c for c in at(hand, seat).cards if c[0] == "A")
            return (FourAcesShown(seat=seat, cards=aces),)
        case Finished(ending):
            return _money(hand, ending)
        case _:
            raise AssertionError(
                f"{type(phase).__name__} is neither asked, nor over, nor anything the rules go on from"
            )


def winner(trick: tuple[Played, ...], trump: str) -> int:
    """K16: the seat that takes the trick: the highest trump, else the highest card of the suit led."""
    suits = {SUIT[p.card] for p in trick}
    best = trump if trump in suits else SUIT[trick[0].card]
    return max((p for p in trick if SUIT[p.card] == best), key=lambda p: RANK[p.card]).seat


def _unclaimed(game: Game, hand: Hand, decks: Decks) -> tuple[Event, ...]:
    """K9, K10, F4, F5, C4, T12."""
    if hand.circle < game.circles(hand.options):
        turned = TrumpTurned(card=hand.deck[hand.stock], circle=hand.circle + 1)
        return (*(_top_ups(hand) if game.circle_top_up else ()), turned)
    if hand.deal_no >= hand.options.max_deals:
        return (void(hand, "no_declarer", "the last deal allowed ended without a declarer", ()),)
    if all(p.clock_acted for p in hand.players):
        return (void(hand, "no_declarer", "the clock acted for every player of a deal without a declarer", ()),)
    dealt = CardsDealt(hand_id=hand.hand_id, deal_no=hand.deal_no + 1, deck=decks(hand.deal_no + 1))
    return (*(_top_ups(hand) if game.redeal_top_up(hand.options) else ()), dealt)


def _top_ups(hand: Hand) -> tuple[BankToppedUp, ...]:
    """F4, F5, K10: `min(stake, purse)` each; T8: only positive ones are credited."""
    due = ((p.seat, min(hand.stake, p.purse)) for p in hand.players)
    return tuple(BankToppedUp(seat=seat, amount=amount) for seat, amount in due if amount)


def _thrown(hand: Hand, seat: int, exchange: Exchange) -> tuple[Event, ...]:
    cards = at(hand, seat).cards
    # A card that a redacted hand file does not show has no suit; it is no trump, since those he had to hold are known.
    gone = cards if exchange.keep == "none" else tuple([c for c in cards if SUIT.get(c) != hand.trump])
    return (CardsDiscarded(hand_id=hand.hand_id, seat=seat, count=len(gone), cards=gone),)


def _exchanged(hand: Hand, seat: int, exchange: Exchange) -> tuple[Event, ...]:
    cards = hand.deck[hand.stock : hand.stock + exchange.stock]
    trump = hand.trump_card if exchange.trump_card else None
    return (CardsDrawn(hand_id=hand.hand_id, seat=seat, count=len(cards), trump_card=trump, cards=cards),)


def _money(hand: Hand, ending: str) -> tuple[Event, ...]:
    """T9, T10, T7: shares, then commission and fines, each an event, then the result."""
    result = settle(hand)
    assert result.ending == ending
    events: list[Event] = []
    for p in result.players:
        if p.share:
            events.append(SharePaid(seat=p.seat, tricks=p.tricks, amount=p.share))
        if p.commission:
            events.append(CommissionTaken(seat=p.seat, share=p.share, amount=p.commission))
        if p.fine_due:
            events.append(FinePaid(seat=p.seat, due=p.fine_due, paid=p.fine_paid))
    return (*events, HandSettled(hand_id=hand.hand_id, result=result))


def void(hand: Hand, cause: str, reason: str, ops: tuple[str, ...]) -> HandVoided:
    """T12: the event that voids `hand`; what was paid in goes back."""
    assert cause in ("no_declarer", "ops")
    return HandVoided(
        hand_id=hand.hand_id,
        cause="ops" if cause == "ops" else "no_declarer",
        reason=reason,
        ops=ops,
        returned=tuple(SeatAmount(seat=p.seat, amount=p.paid_in) for p in hand.players if p.paid_in),
        result=voided(hand),
    )
