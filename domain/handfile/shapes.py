"""The shapes of a hand file's JSON, field by field. Source: rulebook H1 to H7."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from domain.actions import Do
from domain.cards import Card
from domain.events import By, Ending
from domain.handfile.file import RefusalCode
from domain.money import BPS, MAX_AMOUNT
from domain.options import GameName

Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]
Count = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]
Text = Annotated[str, Meta(min_length=1)]
Status = Literal[
    "khrap", "helicopter", "ace", "help", "longing", "pyatok", "shestok",
    "frap", "frap_blind", "whist", "cut", "cut_trump", "passed",
]  # fmt: skip


class Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in the file, as it stands there. A field that may be left out may not be null instead."""


class SeatShape(Strict, frozen=True, kw_only=True):
    """H1."""

    seat: Count
    player: Text
    purse: Amount


class ActionShape(Strict, frozen=True, kw_only=True):
    """H2; which of `cards` and `card` a word takes is checked apart."""

    seat: Count
    do: Do
    cards: tuple[Card | None, ...] | UnsetType = UNSET
    card: Card | UnsetType = UNSET
    by: By = "player"


class ShuffleShape(Strict, frozen=True, kw_only=True):
    """H4."""

    server_seed: str | None
    hand_id: str
    commitment: str
    client_seeds: tuple[str, ...]


class VoidShape(Strict, frozen=True, kw_only=True):
    """H6."""

    reason: str


class RefusalShape(Strict, frozen=True, kw_only=True):
    """H3."""

    code: RefusalCode
    clause: str


class PlayerResultShape(Strict, frozen=True, kw_only=True):
    """A dealt-in player's part of the result."""

    seat: Count
    status: Status
    tricks: Count
    share: Amount
    commission: Amount
    fine_due: Amount
    fine_paid: Amount
    purse: Amount


class ResultShape(Strict, frozen=True, kw_only=True):
    """What replaying must give."""

    ending: Ending
    bank: Amount
    carried_bank: Amount
    next_dealer: Count
    players: tuple[PlayerResultShape, ...]


class FileShape(Strict, frozen=True, kw_only=True):
    """H1 to H7. The options are the game's own, so they are read after it; `name` and `clauses` are ignored (H5)."""

    format: Literal["khrap-hand/1"]
    game: GameName
    currency: Text
    stake: Amount
    commission_bps: Annotated[int, Meta(ge=0, le=BPS)] | UnsetType = UNSET
    options: Raw | UnsetType = UNSET
    rules: Literal[1] = 1
    seats: tuple[SeatShape, ...]
    dealer: Count
    carried_bank: Amount
    shuffle: ShuffleShape | UnsetType = UNSET
    view: Count | Literal["public"] | UnsetType = UNSET
    deals: tuple[tuple[Card | None, ...], ...]
    actions: tuple[ActionShape, ...]
    void: VoidShape | UnsetType = UNSET
    result: ResultShape | UnsetType = UNSET
    refusal: RefusalShape | UnsetType = UNSET
    name: Raw = Raw()
    clauses: Raw = Raw()
