"""The state of a dispute, which is one of three phases. Source: rulebook R."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from domain.events import DealtIn, OpenedAs, Outcome

DAY_MS = 24 * 60 * 60 * 1_000
OPEN_WITHIN_MS = 30 * DAY_MS
"""R1: so long after its end a player may dispute a hand."""
VERDICT_MS = 14 * DAY_MS
"""R3: so long until a verdict is due."""
REMEDY_MS = 7 * DAY_MS
"""R3: so long after the verdict, or after the last proposal, it is made good."""
PARTNER_MS = 90 * DAY_MS
"""R2: who was dealt into a hand with a player in so long a time before the dispute is a partner of his."""
ERASE_AFTER_MS = 30 * DAY_MS
"""R6: so long after its close the texts of a dispute stay."""
MOST_NOTES = 100
MOST_PROPOSALS = 20
"""R3: so many in a dispute, so that its stream stays one that is read whole."""


class Proposal(Struct, frozen=True, kw_only=True):
    """R4, R5: what one reviewer proposed and no other has answered; a correction has no player and no amount."""

    proposal: int
    kind: Literal["compensation", "correction"]
    reviewer: str
    player: str = ""
    amount: int = 0


class Open(Struct, frozen=True, tag="open"):
    """A verdict is due at `due_ms`; `overdue` counts how often it was not there in time."""

    due_ms: int
    overdue: int = 0


class Judged(Struct, frozen=True, tag="judged"):
    """The verdict is there, and until `due_ms` it can be made good."""

    outcome: Outcome
    reviewer: str
    due_ms: int
    proposals: tuple[Proposal, ...] = ()


class Closed(Struct, frozen=True, tag="closed"):
    """Nothing more is decided. `outcome` is None where it was withdrawn before a verdict."""

    why: Literal["done", "withdrawn", "expired"]
    outcome: Outcome | None = None


Phase = Open | Judged | Closed


class Dispute(Struct, frozen=True, kw_only=True):
    """A dispute of the hand `hand_id`, into which `players` were dealt. Amounts are minor units of `currency`.

    `paid` are the compensations, (player, amount); `corrected`: the hand was put right by it (R5). `erased`: its texts
    cannot be read any more (R6). `decided_by` are the reviewers who gave the verdict or proposed something.
    `noted_by` and `proposed_by` have a name for each note and proposal: nobody uses up the room of another.
    """

    hand_id: str
    table_id: str
    currency: str
    opener: str
    role: OpenedAs
    players: tuple[DealtIn, ...]
    phase: Phase
    opened_ms: int
    at_ms: int
    noted_by: tuple[str, ...] = ()
    proposed_by: tuple[str, ...] = ()
    paid: tuple[tuple[str, int], ...] = ()
    corrected: bool = False
    erased: bool = False
    decided_by: tuple[str, ...] = ()


def dealt_in(dispute: Dispute, person: str) -> bool:
    """Whether `person` was dealt into the hand."""
    return any(p.player == person for p in dispute.players)


def proposal_of(dispute: Dispute, number: int) -> Proposal | None:
    """The open proposal of that number."""
    if not isinstance(dispute.phase, Judged):
        return None
    return next((p for p in dispute.phase.proposals if p.proposal == number), None)


def due_ms(dispute: Dispute) -> int | None:
    """R3: when the clock has something to do; None once it is closed."""
    return None if isinstance(dispute.phase, Closed) else dispute.phase.due_ms
