"""What goes into a dispute and what comes out of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from domain.disputes import Dispute
from domain.events import DealtIn, Event, EvidenceFrozen
from services.play.types import KeyReused, NotFound, Refusal


class EndedHand(Struct, frozen=True, kw_only=True):
    """A hand that is over, as the log has it: its events with their secrets, and the evidence to freeze."""

    hand_id: str
    table_id: str
    currency: str
    players: tuple[DealtIn, ...]
    ended_ms: int
    events: tuple[Event, ...]
    evidence: EvidenceFrozen


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
