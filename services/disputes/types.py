"""What goes into a dispute and what comes out of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from domain.disputes import Dispute
from domain.events import CorrectionBasis, DealtIn, Event, EvidenceFrozen, PlayerCorrected, Result
from domain.table import Table
from services.play.types import KeyReused, NotFound, Refusal


class EndedHand(Struct, frozen=True, kw_only=True):
    """A hand that is over, as the log has it: its events with their secrets, and the evidence to freeze.

    S7: `opens` is false where its key is lost, and the secrets are empty.
    """

    hand_id: str
    table_id: str
    currency: str
    players: tuple[DealtIn, ...]
    ended_ms: int
    events: tuple[Event, ...]
    evidence: EvidenceFrozen
    opens: bool = True


class Corrected(Struct, frozen=True):
    """R5: a table, its last event's number and hash, what was recorded of the hand, and the events that put it right
    there."""

    version: int
    hash: bytes
    table: Table
    recorded: Result
    events: tuple[Event, ...]


class CorrectionPreview(Struct, frozen=True, kw_only=True):
    """R5: what a correction would come to: `result` in place of `recorded`, on the ground of `basis`.

    Of each of `players` what is `due` to him, below zero from him, and what of it can be `moved`: to his purse or,
    where he has gone, his account; the rest the house bears. `resumes`: whether the table goes on by it.
    """

    hand_id: str
    basis: CorrectionBasis
    recorded: Result
    result: Result
    players: tuple[PlayerCorrected, ...]
    bank_due: int
    bank_moved: int
    commission_due: int
    resumes: bool


class DisputeAnswer(Struct, frozen=True, kw_only=True):
    """What a command did: the stream's number after it, the phase (`open`, `judged`, `closed`), and where it was about
    a proposal its number."""

    dispute_id: str
    version: int
    phase: str
    proposal: int | None = None


class DisputeRead(Struct, frozen=True, kw_only=True):
    """A dispute with its whole course; `entries` are its events as the reader may see them, texts in the clear.

    A text that is erased is None.
    """

    version: int
    dispute: Dispute
    entries: tuple[dict[str, Any], ...]


DisputeOutcome = DisputeAnswer | Refusal | KeyReused | NotFound
