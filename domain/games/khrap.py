"""Khrap, the main game. Source: rulebook K."""

from __future__ import annotations

from typing import ClassVar, cast

from domain.cards import SUIT
from domain.games.game import Game, Matter
from domain.hand import Answering, Cutting, Declaring, Exchange, Hand, Player, Playing, stock_left
from domain.options import KhrapOptions, Options

_ONE_TRUMP = Exchange(keep="trumps", stock=4, owed=1)


class Khrap(Game):
    """K1 to K18."""

    name = "khrap"
    options = KhrapOptions
    max_seats = 5
    hand_size = 4
    default_commission_bps = 400
    declines = "decline"
    exchanges: ClassVar[dict[str, Exchange]] = {
        "ace": _ONE_TRUMP,
        "longing": _ONE_TRUMP,
        "pyatok": Exchange(keep="none", stock=5, owed=1),
        "shestok": Exchange(keep="none", stock=6, owed=2),
    }
    needs: ClassVar[dict[str, frozenset[str]]] = {
        "helicopter": frozenset("A6"), "ace": frozenset("A"), "longing": frozenset("6"),
    }  # fmt: skip
    draw_after_answers = False
    clauses: ClassVar[dict[type, str]] = {Declaring: "K3", Answering: "K7", Cutting: "K8", Playing: "K14"}
    debt_clauses: ClassVar[dict[str, str]] = {"ace": "K6", "longing": "K7", "pyatok": "K8", "shestok": "K8"}
    word_clauses: ClassVar[dict[str, str]] = {"helicopter": "K5", "ace": "K6"}
    play_clause = "K15"
    cites: ClassVar[dict[Matter, tuple[str, ...]]] = {
        "deal": ("K2",), "redeal": ("K10",), "turn": ("K2",), "turn_again": ("K9",), "top_up": (),
        "redeal_top_up": ("K10",), "lead": ("K14",), "follow": ("K15",), "trick": ("K16",), "share": ("T9",),
        "fine": ("K17", "T7"), "end": ("T7", "T9", "K18"),
    }  # fmt: skip
    four_aces_take_all = True

    def deck_size(self, options: Options, players: int) -> int:
        """K1."""
        return 36

    def circles(self, options: Options) -> int:
        """K9: one more than the changes of trump."""
        return cast(KhrapOptions, options).max_trump_changes + 1

    def redeal_top_up(self, options: Options) -> bool:
        """K10."""
        return cast(KhrapOptions, options).redeal_ante

    def declarations(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """K3, K5, K6."""
        words = ["khrap"]
        trumps = _trump_ranks(hand, player)
        limit = cast(KhrapOptions, hand.options).helicopter_limit
        within_limit = limit == 0 or hand.bank <= limit * len(hand.players) * hand.stake
        if trumps == self.needs["helicopter"] and within_limit:
            words.append("helicopter")
        if trumps == self.needs["ace"] and stock_left(hand) >= self.exchanges["ace"].stock:
            words.append("ace")
        return (*words, "pass")

    def answers(self, hand: Hand, player: Player) -> tuple[str, ...]:
        """K7."""
        only_six = _trump_ranks(hand, player) == self.needs["longing"]
        longing = only_six and stock_left(hand) >= self.exchanges["longing"].stock
        return ("help", "longing", "decline") if longing else ("help", "decline")

    def cuts(self, hand: Hand) -> tuple[str, ...]:
        """K8."""
        one_each = cast(KhrapOptions, hand.options).draw_limit == "one_each"
        taken = {p.status for p in hand.players} if one_each else set()
        stock = stock_left(hand)
        words = [w for w in ("pyatok", "shestok") if stock >= self.exchanges[w].stock and w not in taken]
        return (*words, "pass")

    def all_must_help(self, word: str) -> bool:
        """K5."""
        return word == "helicopter"

    def next_dealer(self, hand: Hand) -> int:
        """K18: the declarer."""
        assert hand.declarer is not None
        return hand.declarer

    def fine(self, hand: Hand, player: Player) -> int:
        """K17."""
        if player.seat != hand.declarer:
            return 1 if player.tricks == 0 else 0
        if player.tricks >= 2:
            return 0
        graded = cast(KhrapOptions, hand.options).declarer_fine == "graded"
        return 1 if graded and player.tricks == 1 else 2


def _trump_ranks(hand: Hand, player: Player) -> set[str]:
    return {card[0] for card in player.dealt if SUIT[card] == hand.trump}
