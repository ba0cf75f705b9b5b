"""The events of a hand in words, for people: each as lines of a head and a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from domain.cards import Card
from domain.events import (
    BankToppedUp,
    By,
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
    Result,
    SharePaid,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
)
from domain.hand import Hand, at

Line = tuple[str, str]
"""A head (`says`, `plays`, `fine`) and what follows it."""


class Telling:
    """How a hand is told. `card`, `amount` and `name` write a card, an amount of minor units and a player's name."""

    def __init__(
        self,
        card: Callable[[Card], str] = str,
        amount: Callable[[int], str] = str,
        name: Callable[[str], str] = str,
    ) -> None:
        self.card = card
        self.amount = amount
        self.name = name

    def lines(self, hand: Hand, event: Event) -> tuple[Line, ...]:
        """The lines of `event`, `hand` being the hand after it."""
        return _TELLERS[type(event)](self, hand, event)

    def _cards(self, cards: Sequence[Card]) -> str:
        return " ".join(self.card(c) for c in cards) or "none"

    def _name(self, hand: Hand, seat: int) -> str:
        return self.name(at(hand, seat).player)

    def _started(self, hand: Hand, event: HandStarted) -> tuple[Line, ...]:
        purses = ", ".join(f"{self.name(p.player)} {self.amount(p.purse + p.paid_in)}" for p in hand.players)
        antes = f"antes of {self.amount(event.ante)}, " if event.ante else "no antes, "
        carried = f"{self.amount(hand.carried)} carried, " if hand.carried else ""
        bank = f"{antes}{carried}{self.amount(hand.bank)} in the bank"
        return ("purses", purses), ("bank", bank), ("dealer", self._name(hand, hand.dealer))

    def _dealt(self, hand: Hand, event: CardsDealt) -> tuple[Line, ...]:
        anew = (("deal", f"number {event.deal_no}"),) if event.deal_no > 1 else ()
        return (*anew, *(("dealt", f"{self.name(p.player)}: {self._cards(p.cards)}") for p in hand.players))

    def _turned(self, hand: Hand, event: TrumpTurned) -> tuple[Line, ...]:
        return (("trump", f"{self.card(event.card)}, circle {event.circle}"),)

    def _looked(self, hand: Hand, event: CardsLooked) -> tuple[Line, ...]:
        return (("looks", self._name(hand, event.seat)),)

    def _declared(self, hand: Hand, event: Declared) -> tuple[Line, ...]:
        return (("says", f"{self._name(hand, event.seat)}: {event.do}{_clock(event.by)}"),)

    def _discarded(self, hand: Hand, event: CardsDiscarded) -> tuple[Line, ...]:
        return (("discards", f"{self._name(hand, event.seat)}: {self._cards(event.cards)}{_clock(event.by)}"),)

    def _drawn(self, hand: Hand, event: CardsDrawn) -> tuple[Line, ...]:
        taken = () if event.trump_card is None else (f"the turned {self.card(event.trump_card)}",)
        drawn = (self._cards(event.cards),) if event.cards or not taken else ()
        return (("draws", f"{self._name(hand, event.seat)}: {' and '.join((*taken, *drawn))}{_clock(event.by)}"),)

    def _topped_up(self, hand: Hand, event: BankToppedUp) -> tuple[Line, ...]:
        now = f"{self.amount(hand.bank)} in the bank"
        return (("adds", f"{self._name(hand, event.seat)}: {self.amount(event.amount)}, {now}"),)

    def _time_bank_used(self, hand: Hand, event: TimeBankUsed) -> tuple[Line, ...]:
        return (("time", f"{self._name(hand, event.seat)}: {event.ms} ms of the time bank"),)

    def _aces_shown(self, hand: Hand, event: FourAcesShown) -> tuple[Line, ...]:
        return (("shows", f"{self._name(hand, event.seat)}: {self._cards(event.cards)}"),)

    def _played(self, hand: Hand, event: CardPlayed) -> tuple[Line, ...]:
        return (("plays", f"{self._name(hand, event.seat)}: {self.card(event.card)}{_clock(event.by)}"),)

    def _trick_taken(self, hand: Hand, event: TrickTaken) -> tuple[Line, ...]:
        return (("trick", f"{event.trick} to {self._name(hand, event.seat)}"),)

    def _share_paid(self, hand: Hand, event: SharePaid) -> tuple[Line, ...]:
        tricks = "1 trick" if event.tricks == 1 else f"{event.tricks} tricks"
        return (("share", f"{self._name(hand, event.seat)}: {self.amount(event.amount)} for {tricks}"),)

    def _commission_taken(self, hand: Hand, event: CommissionTaken) -> tuple[Line, ...]:
        return (("house", f"{self.amount(event.amount)} of {self._name(hand, event.seat)}'s share"),)

    def _fine_paid(self, hand: Hand, event: FinePaid) -> tuple[Line, ...]:
        return (
            ("fine", f"{self._name(hand, event.seat)}: {self.amount(event.due)} due, {self.amount(event.paid)} paid"),
        )

    def _settled(self, hand: Hand, event: HandSettled) -> tuple[Line, ...]:
        return ("ends", event.result.ending.replace("_", " ")), *self._result(hand, event.result)

    def _voided(self, hand: Hand, event: HandVoided) -> tuple[Line, ...]:
        returned = ", ".join(f"{self._name(hand, r.seat)} {self.amount(r.amount)}" for r in event.returned)
        back = (("returned", returned),) if returned else ()
        return ("voided", event.reason), *back, *self._result(hand, event.result)

    def _result(self, hand: Hand, result: Result) -> tuple[Line, ...]:
        purses = ", ".join(f"{self._name(hand, p.seat)} {self.amount(p.purse)}" for p in result.players)
        carried = f"{self.amount(result.carried_bank)} carried on, {self._name(hand, result.next_dealer)} deals next"
        return ("bank", carried), ("purses", purses)


def _clock(by: By) -> str:
    return " (the clock)" if by == "clock" else ""


_TELLERS: dict[type[Event], Callable[[Telling, Hand, Any], tuple[Line, ...]]] = {
    HandStarted: Telling._started,
    CardsDealt: Telling._dealt,
    TrumpTurned: Telling._turned,
    CardsLooked: Telling._looked,
    Declared: Telling._declared,
    CardsDiscarded: Telling._discarded,
    CardsDrawn: Telling._drawn,
    BankToppedUp: Telling._topped_up,
    TimeBankUsed: Telling._time_bank_used,
    FourAcesShown: Telling._aces_shown,
    CardPlayed: Telling._played,
    TrickTaken: Telling._trick_taken,
    SharePaid: Telling._share_paid,
    CommissionTaken: Telling._commission_taken,
    FinePaid: Telling._fine_paid,
    HandSettled: Telling._settled,
    HandVoided: Telling._voided,
}
"""Complete over the events of a hand; a test checks it."""
