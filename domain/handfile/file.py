"""The hand file `khrap-hand/1`: one hand, all that decides it and nothing else. Source: rulebook H."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from domain.actions import Action, Do
from domain.cards import Card
from domain.events import By, Result
from domain.options import GameName, Options

FORMAT: Final = "khrap-hand/1"

RefusalCode = Literal[
    "hand_over",
    "not_in_hand",
    "not_your_turn",
    "not_offered",
    "card_not_held",
    "wrong_discard_count",
    "must_follow_suit",
    "must_trump",
]
"""H3: the codes that a file may expect, in the order in which they apply."""

Audience = int | Literal["public"]
"""H7: whose knowledge a redacted file holds: that of a dealt-in seat, or what all see."""


class HandFileError(ValueError):
    """What is wrong with a hand file: `field` names its path (`seats[1].purse`, `actions[7]`), empty for the whole."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class Finding(Struct, frozen=True):
    """What was found at one field of a file."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class FileSeat(Struct, frozen=True, kw_only=True):
    """H1: a dealt-in player and his purse before the ante, in minor units."""

    seat: int
    player: str
    purse: int


class FileAction(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """H2: one action. Cards are None where the file's audience does not know them (H7)."""

    seat: int
    do: Do
    cards: tuple[Card | None, ...] | None = None
    card: Card | None = None
    by: By = "player"


class FileShuffle(Struct, frozen=True, kw_only=True):
    """H4: what the decks are made of, in hex; `server_seed` is None where the file's audience does not know it."""

    server_seed: str | None
    hand_id: str
    commitment: str
    client_seeds: tuple[str, ...]


class FileVoid(Struct, frozen=True, kw_only=True):
    """H6: why ops voided the hand."""

    reason: str


class FileRefusal(Struct, frozen=True, kw_only=True):
    """H3: what the last action is refused with; `clause` is a pointer for the reader."""

    code: RefusalCode
    clause: str


class HandFile(Struct, frozen=True, kw_only=True):
    """A hand file. `deals` are whole decks, None where a card is not known to the file's audience (H7)."""

    game: GameName
    currency: str
    stake: int
    commission_bps: int
    options: Options
    rules: int
    seats: tuple[FileSeat, ...]
    dealer: int
    carried_bank: int
    deals: tuple[tuple[Card | None, ...], ...]
    actions: tuple[FileAction, ...]
    shuffle: FileShuffle | None = None
    view: Audience | None = None
    void: FileVoid | None = None
    result: Result | None = None
    refusal: FileRefusal | None = None
    name: str = ""


def action_of(entry: FileAction) -> Action:
    """The action that a file's entry names; all its cards must be known."""
    if entry.cards is None:
        return Action(do=entry.do, card=entry.card)
    cards = tuple([card for card in entry.cards if card is not None])
    assert len(cards) == len(entry.cards), entry
    return Action(do=entry.do, cards=cards)
