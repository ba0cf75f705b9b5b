"""The clauses that decide money, per game and version of its rules, written down a second time. Source: K, F, C, T9.

This is the ledger's own reading of the rulebook: it knows nothing of `domain.games`, so that a slip there is seen here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from msgspec import Struct

from domain.events import Settings
from domain.options import FrapOptions, Khrap5Options, KhrapOptions, Options


class Duty(Struct, frozen=True):
    """What a player in play owed tricks for, and how many he took."""

    word: str
    declarer: bool
    tricks: int
    options: Options
    ace_turned: bool


class Law(Struct, frozen=True, kw_only=True):
    """One game. `shares` is (bank, tricks of each, circle) → shares; `fine` counts banks owed."""

    tricks: int
    declarations: frozenset[str]
    answers: frozenset[str]
    cuts: frozenset[str]
    forces: frozenset[str] = frozenset()
    four_aces: bool = False
    circle_top_up: bool = False
    declarer_deals: bool = False
    circles: Callable[[Options], int]
    redeal_top_up: Callable[[Options], bool]
    shares: Callable[[int, tuple[int, ...], int], tuple[int, ...]]
    fine: Callable[[Duty], int]
    clauses: dict[str, str]


def _by_fours(bank: int, tricks: tuple[int, ...], circle: int) -> tuple[int, ...]:
    """T9, F10: a quarter of the bank, rounded down, for each trick."""
    return tuple(taken * (bank // 4) for taken in tricks)


def _to_the_winner(bank: int, tricks: tuple[int, ...], circle: int) -> tuple[int, ...]:
    """C5: three tricks take the bank, half of it where the declaration fell in the second circle."""
    prize = bank if circle == 1 else bank // 2
    return tuple(prize if taken > 2 else 0 for taken in tricks)


def _khrap_fine(duty: Duty) -> int:
    """K17."""
    if not duty.declarer:
        return int(duty.tricks < 1)
    if duty.tricks == 1 and cast(KhrapOptions, duty.options).declarer_fine == "graded":
        return 1
    return 2 if duty.tricks < 2 else 0


def _frap_fine(duty: Duty) -> int:
    """F10, F11."""
    if not duty.declarer:
        return int(duty.tricks < 1)
    if duty.word == "frap_blind":
        return {0: 4, 1: 3 if duty.ace_turned else 2}.get(duty.tricks, 0)
    return {0: 2, 1: 1}.get(duty.tricks, 0)


def _khrap5_fine(duty: Duty) -> int:
    """C6."""
    if not duty.declarer:
        return int(duty.tricks < 1)
    return {0: 2, 1: 1, 2: 1}.get(duty.tricks, 0)


_FRAP_CLAUSES = {
    "word": "F3", "answer": "F6", "cut": "F8", "lead": "F9", "turn": "F4", "redeal": "F5", "share": "F10",
    "fine": "F10", "blind": "F11", "alone": "F6", "dealer": "F12",
}  # fmt: skip

LAWS: dict[tuple[type[Options], int], Law] = {
    (KhrapOptions, 1): Law(
        tricks=4,
        declarations=frozenset({"khrap", "helicopter", "ace"}),
        answers=frozenset({"help", "longing"}),
        cuts=frozenset({"pyatok", "shestok"}),
        forces=frozenset({"helicopter"}),
        four_aces=True,
        declarer_deals=True,
        circles=lambda options: 1 + cast(KhrapOptions, options).max_trump_changes,
        redeal_top_up=lambda options: cast(KhrapOptions, options).redeal_ante,
        shares=_by_fours,
        fine=_khrap_fine,
        clauses={
            "word": "K3", "answer": "K7", "cut": "K8", "lead": "K14", "turn": "K9", "redeal": "K10", "share": "T9",
            "fine": "K17", "alone": "K13", "dealer": "K18",
        },
    ),
    (FrapOptions, 1): Law(
        tricks=4,
        declarations=frozenset({"frap", "frap_blind"}),
        answers=frozenset({"whist"}),
        cuts=frozenset({"cut", "cut_trump"}),
        circle_top_up=True,
        circles=lambda _: 3,
        redeal_top_up=lambda _: True,
        shares=_by_fours,
        fine=_frap_fine,
        clauses=_FRAP_CLAUSES,
    ),
    (Khrap5Options, 1): Law(
        tricks=5,
        declarations=frozenset({"khrap"}),
        answers=frozenset({"whist"}),
        cuts=frozenset({"cut", "cut_trump"}),
        circle_top_up=True,
        circles=lambda _: 2,
        redeal_top_up=lambda _: True,
        shares=_to_the_winner,
        fine=_khrap5_fine,
        clauses=_FRAP_CLAUSES
        | {"word": "C2", "cut": "C2", "turn": "C4", "redeal": "C4", "share": "C5", "fine": "C6", "dealer": "C7"},
    ),
}  # fmt: skip
"""By the type of the options, which names the game, and the rules' version; old versions stay."""


class UnknownRules(LookupError):
    """A game or version of its rules that this ledger does not know: a newer one does."""


def law_of(settings: Settings) -> Law:
    """The law under which a table's hands are reckoned. Raises UnknownRules."""
    law = LAWS.get((type(settings.options), settings.rules))
    if law is None:
        raise UnknownRules(f"{settings.game}, rules version {settings.rules}")
    return law
