"""Khrap5, the classic five-card game. Source: rulebook C."""

from __future__ import annotations

from typing import ClassVar

from domain.games.frap import Frap
from domain.games.game import Matter
from domain.hand import Answering, Cutting, Declaring, Drawing, Exchange, Hand, Player, Playing
from domain.options import Khrap5Options, Options


class Khrap5(Frap):
    """C1 to C7: as frap, but five cards, other duties, and nobody looks or declares blind."""

    name = "khrap5"
    options = Khrap5Options  # type: ignore[assignment]
    max_seats = 9
    hand_size = 5
    exchanges: ClassVar[dict[str, Exchange]] = {
        "cut": Exchange(keep="none", stock=6, owed=1),
        "cut_trump": Exchange(keep="none", stock=5, owed=1, trump_card=True),
    }
    blind_exchange: ClassVar[Exchange | None] = None
    looking = False
    looks: ClassVar[frozenset[str]] = frozenset()
    clauses: ClassVar[dict[type, str]] = {
        Declaring: "C2", Answering: "C2", Drawing: "C3", Cutting: "C2", Playing: "F9",
    }  # fmt: skip
    debt_clauses: ClassVar[dict[str, str]] = {"cut": "C2", "cut_trump": "C2"}
    word_clauses: ClassVar[dict[str, str]] = {"frap_blind": "C1"}
    cites: ClassVar[dict[Matter, tuple[str, ...]]] = {
        **Frap.cites, "deal": ("C1",), "redeal": ("C4",), "turn": ("C1",), "turn_again": ("C4",), "top_up": ("C4",),
        "redeal_top_up": ("C4",), "share": ("C5",), "fine": ("C6", "T7"), "end": ("T7", "C5", "C7"),
    }  # fmt: skip

    def deck_size(self, options: Options, players: int) -> int:
        """C1."""
        return 36 if players <= 6 else 52

    def circles(self, options: Options) -> int:
        """C4."""
        return 2

    def declarations(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """C2."""
        return ("khrap", "pass")

    def shares(self, hand: Hand) -> tuple[int, ...]:
        """C5: three tricks take the bank, or half of it where the declaration fell in the second circle."""
        prize = hand.bank if hand.circle == 1 else hand.bank // 2
        return tuple(prize if p.tricks >= 3 else 0 for p in hand.players)

    def fine(self, hand: Hand, player: Player) -> int:
        """C6."""
        if player.seat != hand.declarer:
            return 1 if player.tricks == 0 else 0
        if player.tricks >= 3:
            return 0
        return 1 if player.tricks else 2
