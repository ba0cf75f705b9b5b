"""What the routes of disputes read and answer with. Source: rulebook R."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from domain.events import ErasedFor, Outcome
from projections.disputes import DisputeRow
from services.api.bodies import Body
from services.api.forms import Amount, HandId, PlayerId, Writing

Phase = Annotated[
    Literal["open", "judged", "closed"],
    Meta(description="`open`: a verdict is due; `judged`: it is there and can be made good"),
]


class OpenDisputeBody(Body, frozen=True, kw_only=True):
    """R1: which hand, and what is wrong with it."""

    hand_id: HandId
    statement: Writing


class NoteBody(Body, frozen=True, kw_only=True):
    """R3: a note; `shared` is for reviewers: whether the opener reads it. An opener's own always is."""

    text: Writing
    shared: bool = False


class VerdictBody(Body, frozen=True, kw_only=True):
    """R3: the verdict and its reasons, which the opener reads."""

    outcome: Outcome
    text: Writing


class CompensationBody(Body, frozen=True, kw_only=True):
    """R4: `amount` from the house to a player of the hand."""

    player: PlayerId
    amount: Amount
    text: Writing


class CorrectionBody(Body, frozen=True, kw_only=True):
    """R5: why the hand is to be put right; the figures follow from the rules."""

    text: Writing


class EraseBody(Body, frozen=True, kw_only=True):
    """R6: on which ground the texts are erased, for good."""

    ground: ErasedFor


Entry = Annotated[
    dict[str, Any],
    Meta(
        description=(
            "an event of the course: `seq`, `at`, `type`, its fields, and where it has one its `text`, null once that "
            "is erased"
        )
    ),
]


class DisputeNow(Struct, frozen=True, kw_only=True):
    """A dispute and its course. `due_ms` is when the clock has to do with it, null once it is closed.

    `players` were dealt into the hand, in seat order. `overdue` counts the deadlines missed for it. `erased`: its texts
    are gone for good.
    """

    dispute_id: str
    version: int
    hand_id: str
    table_id: str
    currency: str
    opener: str
    role: str
    players: tuple[str, ...]
    opened_ms: int
    phase: Phase
    outcome: str | None
    due_ms: int | None
    overdue: int
    corrected: bool
    erased: bool
    entries: tuple[Entry, ...]


class DisputePage(Struct, frozen=True, kw_only=True):
    """Disputes, what is overdue first, what is closed last, by age; `next` is the cursor of the page after."""

    disputes: tuple[DisputeRow, ...]
    next: str | None
