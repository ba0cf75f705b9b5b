"""What may be asked of a dispute. Time, and what is known of persons from elsewhere, are fields of the command.

`statement` and `text` are sealed already: the rules never read them.
"""

from __future__ import annotations

from msgspec import Struct

from domain.commands import Command
from domain.events import DealtIn, ErasedFor, EvidenceFrozen, OpenedAs, Outcome


class Reviewer(Struct, frozen=True, kw_only=True):
    """R2: a reviewer by name, whether he holds a seat anywhere, and which players of the hand are partners of his."""

    name: str
    seated: bool = False
    partners: tuple[str, ...] = ()


class OpenDispute(Command, frozen=True, kw_only=True):
    """R1: `reviewer` is None where a player opens it. The hand ended at `ended_ms`."""

    hand_id: str
    table_id: str
    currency: str
    players: tuple[DealtIn, ...]
    ended_ms: int
    opener: str
    reviewer: Reviewer | None
    evidence: EvidenceFrozen
    statement: str


class AddNote(Command, frozen=True, kw_only=True):
    """R3: by the opener, who is then no reviewer, or by `reviewer`."""

    person: str
    role: OpenedAs
    text: str
    shared: bool = False
    reviewer: Reviewer | None = None


class GiveVerdict(Command, frozen=True, kw_only=True):
    """R3."""

    reviewer: Reviewer
    outcome: Outcome
    text: str


class ProposeCompensation(Command, frozen=True, kw_only=True):
    """R4: `amount` above zero, to a player of the hand."""

    reviewer: Reviewer
    player: str
    amount: int
    text: str


class ProposeCorrection(Command, frozen=True, kw_only=True):
    """R5."""

    reviewer: Reviewer
    text: str


class Approve(Command, frozen=True, kw_only=True):
    """R4, R5: the second signature."""

    reviewer: Reviewer
    proposal: int


class Drop(Command, frozen=True, kw_only=True):
    """R4, R5: its author takes a proposal back, or another reviewer declines it."""

    reviewer: Reviewer
    proposal: int


class Close(Command, frozen=True, kw_only=True):
    """R3: a reviewer is done."""

    reviewer: Reviewer


class Withdraw(Command, frozen=True, kw_only=True):
    """R3: the opener takes his dispute back before there is a verdict."""

    person: str


class Expire(Command, frozen=True, kw_only=True):
    """R3: the clock, once a deadline has passed."""


class EraseTexts(Command, frozen=True, kw_only=True):
    """R6."""

    reviewer: Reviewer
    ground: ErasedFor


DisputeCommand = (
    OpenDispute
    | AddNote
    | GiveVerdict
    | ProposeCompensation
    | ProposeCorrection
    | Approve
    | Drop
    | Close
    | Withdraw
    | Expire
    | EraseTexts
)
