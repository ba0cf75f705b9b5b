"""What a player does in a hand, in the words of H2."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from domain.cards import Card

Word = Literal[
    "khrap", "helicopter", "ace", "pass", "help", "longing", "decline", "pyatok", "shestok",
    "frap", "frap_blind", "whist", "cut", "cut_trump", "look",
]  # fmt: skip
Do = Literal[Word, "discard", "draw", "play"]

WORDS: frozenset[str] = frozenset(get_args(Word))
CardText = Annotated[str, Meta(pattern="^[2-9TJQKA][shdc]$", examples=["As"], description="rank and suit")]


class Action(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One action: a word alone, `discard` or `draw` with `cards`, `play` with `card`.

    ValueError (so a validation error where it is decoded) names the field that is missing or too much.
    """

    do: Do
    cards: tuple[Card, ...] | None = None
    card: Card | None = None

    def __post_init__(self) -> None:
        if self.do == "play":
            if self.card is None or self.cards is not None:
                raise ValueError("'play' takes `card`, one card, and nothing else")
        elif self.do in ("discard", "draw"):
            if self.cards is None or self.card is not None:
                raise ValueError(f"'{self.do}' takes `cards`, a list of cards, and nothing else")
        elif self.cards is not None or self.card is not None:
            raise ValueError(f"'{self.do}' takes no cards")
