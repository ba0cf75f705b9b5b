"""Frap. Source: rulebook F."""

from __future__ import annotations

from typing import ClassVar, cast

from domain.cards import RANK
from domain.games.game import Game, Matter
from domain.hand import (
    Answering,
    Cutting,
    Declaring,
    Drawing,
    Exchange,
    Hand,
    Player,
    Playing,
    clockwise,
    stock_left,
)
from domain.options import FrapOptions, Options

ACE = RANK["As"]


class Frap(Game):
    """F1 to F12."""

    name = "frap"
    options = FrapOptions
    max_seats = 12
    hand_size = 4
    default_commission_bps = 0
    declines = "pass"
    exchanges: ClassVar[dict[str, Exchange]] = {
        "cut": Exchange(keep="none", stock=5, owed=1),
        "cut_trump": Exchange(keep="none", stock=4, owed=1, trump_card=True),
    }
    draw_after_answers = True
    blind_exchange: ClassVar[Exchange | None] = Exchange(keep="all", stock=0, owed=1, trump_card=True)
    looking = True
    looks = frozenset({"frap", "whist"})
    clauses: ClassVar[dict[type, str]] = {
        Declaring: "F3", Answering: "F6", Drawing: "F7", Cutting: "F8", Playing: "F9",
    }  # fmt: skip
    debt_clauses: ClassVar[dict[str, str]] = {"frap_blind": "F7", "cut": "F8", "cut_trump": "F8"}
    word_clauses: ClassVar[dict[str, str]] = {"look": "F2"}
    play_clause = "F9"
    cites: ClassVar[dict[Matter, tuple[str, ...]]] = {
        "deal": ("F2",), "redeal": ("F5",), "turn": ("F2",), "turn_again": ("F4",), "top_up": ("F4",),
        "redeal_top_up": ("F5",), "lead": ("F9",), "follow": ("F9", "K15"), "trick": ("F9", "K16"),
        "share": ("F10", "T9"), "fine": ("F10", "F11", "T7"), "end": ("T7", "T9", "F12"),
    }  # fmt: skip
    circle_top_up = True

    def deck_size(self, options: Options, players: int) -> int:
        """F1."""
        if players <= 4:
            return 32
        chosen = cast(FrapOptions, options).deck
        if players <= 6 and chosen is not None:
            return chosen
        return 36 if players == 5 else 52

    def circles(self, options: Options) -> int:
        """F4."""
        return 3

    def redeal_top_up(self, options: Options) -> bool:
        """F5."""
        return True

    def declarations(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """F3."""
        return ("frap", "pass") if player.looked else ("frap", "frap_blind", "pass")

    def answers(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """F6."""
        return ("whist", "pass")

    def cuts(self, hand: Hand) -> tuple[str, ...]:
        """F8: `cut_trump` for the first who cuts in only, and not after a blind declarer took the trump card."""
        stock = stock_left(hand)
        words = ["cut"] if stock >= self.exchanges["cut"].stock else []
        if not hand.trump_taken and not hand.cutters and stock >= self.exchanges["cut_trump"].stock:
            words.append("cut_trump")
        return (*words, "pass")

    def next_dealer(self, hand: Hand) -> int:
        """F12, C7."""
        return clockwise(hand, hand.dealer)[0]

    def fine(self, hand: Hand, player: Player) -> int:
        """F10, F11."""
        if player.seat != hand.declarer:
            return 1 if player.tricks == 0 else 0
        short = max(0, 2 - player.tricks)
        if player.status != "frap_blind":
            return short
        assert hand.trump_card is not None
        if short == 1 and RANK[hand.trump_card] == ACE:
            return 3
        return 2 * short
