"""The course of a hand of khrap as its public events tell it: who is asked, for what, with which cards.

The load generator keeps this account itself, so that it need not ask the service whose turn it is after each action.
It knows what a client knows: public events, and the cards of the players for whom it plays. Source: rulebook K.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from domain.cards import SUIT, Card

DECK = 36
HAND = 4
PYATOK = 5


class Course:
    """One hand. `order` are the dealt-in seats, ascending; `cards` what each holds.

    `asked` is the seat that must act, None when the hand is over; `lost` says that a new deal made the cards stale.
    """

    def __init__(self, order: Sequence[int], dealer: int, trump: Card, cards: Mapping[int, Sequence[Card]]) -> None:
        self.over = False
        self.lost = False
        self._order = tuple(order)
        self._dealer = dealer
        self._trump = SUIT[trump]
        self._cards = {seat: list(held) for seat, held in cards.items()}
        self._stock = DECK - HAND * len(order) - 1
        self._phase = "declare"
        self._queue = [*self._others(dealer), dealer]
        self._declarer: int | None = None
        self._helpers: list[int] = []
        self._declined: list[int] = []
        self._drawers: list[int] = []
        self._owing: int | None = None
        self._led: Card | None = None

    @property
    def asked(self) -> int | None:
        """The seat that must act."""
        if self.over or self.lost:
            return None
        return self._owing if self._owing is not None else self._queue[0]

    @property
    def is_forced(self) -> bool:
        """T11: whether facts known to all leave one choice: the last card, or a draw from too small a stock."""
        if self.asked is None or self._owing is not None:
            return False
        if self._phase == "draw":
            return self._stock < PYATOK
        return self._phase == "play" and len(self._cards[self._queue[0]]) == 1

    def choose(self, chance: random.Random) -> dict[str, Any]:
        """A legal action for the seat that is asked, without its turn."""
        seat = self.asked
        assert seat is not None
        held = self._cards[seat]
        if self._owing is not None:
            return {"do": "discard", "cards": [chance.choice(held)]}
        if self._phase == "declare":
            return {"do": "khrap" if chance.random() < 0.4 else "pass"}
        if self._phase == "answer":
            return {"do": "help" if chance.random() < 0.6 else "decline"}
        if self._phase == "draw":
            return {"do": "pyatok" if self._stock >= PYATOK and chance.random() < 0.5 else "pass"}
        return {"do": "play", "card": chance.choice(self._following(held))}

    def take(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Go on by the events of an answer."""
        for event in events:
            match event["type"]:
                case "declared":
                    self._declared(event["seat"], event["do"])
                case "cards_drawn":
                    self._stock -= event["count"]
                    self._cards[event["seat"]] = list(event["cards"])
                    self._owing = event["seat"]
                case "cards_discarded" if self._owing is not None:
                    self._cards[event["seat"]] = list(event["cards"])
                    self._owing = None
                    self._advance()
                case "trump_turned":
                    self._trump = SUIT[event["card"]]
                    self._stock -= 1
                    self._queue = [*self._others(self._dealer), self._dealer]
                case "card_played":
                    self._cards[event["seat"]].remove(event["card"])
                    self._led = self._led or event["card"]
                    self._queue.pop(0)
                case "trick_taken":
                    self._led = None
                    self._queue = [event["seat"], *(s for s in self._others(event["seat"]) if self._in_play(s))]
                case "hand_settled" | "hand_voided":
                    self.over = True
                case "cards_dealt":
                    self.lost = True
                case _:
                    pass

    def _declared(self, seat: int, word: str) -> None:
        self._queue.pop(0)
        if word == "khrap":
            self._declarer = seat
            self._phase, self._queue = "answer", self._others(seat)
        elif word == "help":
            self._helpers.append(seat)
        elif word == "decline":
            self._declined.append(seat)
        elif word == "pyatok":
            self._drawers.append(seat)
            return  # the discard is owed first
        self._advance()

    def _advance(self) -> None:
        """On to the next phase where nobody is left to speak in this one."""
        if self._queue or self._declarer is None:
            return
        if self._phase == "answer":
            self._phase, self._queue = "draw", list(self._declined)
        if self._phase == "draw" and not self._queue:
            leader = self._drawers[0] if self._drawers else self._declarer
            self._phase = "play"
            self._queue = [leader, *(s for s in self._others(leader) if self._in_play(s))]

    def _in_play(self, seat: int) -> bool:
        return seat == self._declarer or seat in self._helpers or seat in self._drawers

    def _following(self, held: list[Card]) -> list[Card]:
        """K15."""
        if self._led is None:
            return held
        suit = SUIT[self._led]
        return [c for c in held if SUIT[c] == suit] or [c for c in held if SUIT[c] == self._trump] or held

    def _others(self, than: int) -> list[int]:
        """The other seats, clockwise from the left of `than`."""
        at = self._order.index(than)
        return [*self._order[at + 1 :], *self._order[:at]]
