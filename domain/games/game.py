"""What a game of this family must say for itself; all else is shared. Source: rulebook K, F, C."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from domain.actions import Word
from domain.hand import Exchange, Hand, Player
from domain.money import per_trick
from domain.options import Options

Matter = Literal[
    "deal", "redeal", "turn", "turn_again", "top_up", "redeal_top_up", "lead", "follow", "trick", "share", "fine", "end"
]
"""What a clause is cited for: see `domain.citing`."""


class Game(ABC):
    """The words, the exchanges, the duties and the money of one game at one version of its rules."""

    name: ClassVar[str]
    options: ClassVar[type[Options]]
    rules: ClassVar[int] = 1
    max_seats: ClassVar[int]
    hand_size: ClassVar[int]
    default_commission_bps: ClassVar[int]

    declines: ClassVar[Word]
    """The word of who does not help in the second circle: `decline` or `pass`."""
    exchanges: ClassVar[dict[str, Exchange]]
    """Words that replace cards when they are said."""
    needs: ClassVar[dict[str, frozenset[str]]] = {}
    """K5 to K7: words that are had by who was dealt trumps of these ranks and no other trump."""
    draw_after_answers: ClassVar[bool]
    """F7: declarer and whisters draw before others cut in."""
    blind_exchange: ClassVar[Exchange | None] = None
    """F7: what a blind declarer does in place of a draw."""
    looking: ClassVar[bool] = False
    """F2: cards lie face down until the player looks."""
    looks: ClassVar[frozenset[str]] = frozenset()
    """F2: words that look for him who says them."""
    four_aces_take_all: ClassVar[bool] = False
    """K12."""
    circle_top_up: ClassVar[bool] = False
    """F4, C4: all add to the bank after a circle without a declarer."""

    clauses: ClassVar[dict[type, str]]
    """Under which clause each phase asks: a pointer for the reader of a refusal (H3)."""
    debt_clauses: ClassVar[dict[str, str]]
    """Under which clause a discard is owed, by the status of who owes it."""
    word_clauses: ClassVar[dict[str, str]] = {}
    """Clauses of words that have, or lack, one of their own beside their circle's."""
    play_clause: ClassVar[str]
    """Under which clause a card is played to a trick."""
    cites: ClassVar[dict[Matter, tuple[str, ...]]]
    """By which clauses what no player decides comes about; complete over `Matter`."""

    @abstractmethod
    def deck_size(self, options: Options, players: int) -> int:
        """K1, F1, C1: cards in the deck for so many dealt-in players."""

    @abstractmethod
    def circles(self, options: Options) -> int:
        """K9, F4, C4: circles for a declarer in one deal."""

    @abstractmethod
    def redeal_top_up(self, options: Options) -> bool:
        """K10, F5: whether all add to the bank before the cards are dealt anew."""

    @abstractmethod
    def declarations(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """K3, F3, C2: what this player may say in the circle for a declarer."""

    @abstractmethod
    def answers(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """K7, F6: what this player may say in the circle after a declaration."""

    @abstractmethod
    def cuts(self, hand: Hand) -> tuple[str, ...]:
        """K8, F8: what may be said by one who declined; it depends on facts known to all."""

    def all_must_help(self, word: str) -> bool:
        """K5: whether this declaration makes helpers of all others."""
        return False

    @abstractmethod
    def next_dealer(self, hand: Hand) -> int:
        """K18, F12: the seat that deals after this hand."""

    def shares(self, hand: Hand) -> tuple[int, ...]:
        """T9: shares in seat order, in minor units."""
        each = per_trick(hand.bank, self.hand_size)
        return tuple(each * p.tricks for p in hand.players)

    @abstractmethod
    def fine(self, hand: Hand, player: Player) -> int:
        """K17, F10, F11, C6: what a player in play owes for his tricks, as a multiple of the bank."""
