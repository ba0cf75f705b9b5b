"""A dispute's events as its readers may see them: the opener what concerns him, reviewers all. Source: R3, R6."""

from __future__ import annotations

from typing import Any

from domain.events import (
    CompensationProposed,
    CorrectionProposed,
    DisputeClosed,
    DisputeEvent,
    DisputeNoted,
    DisputeOpened,
    DisputeOverdue,
    EvidenceFrozen,
    OpenedAs,
    ProposalApproved,
    ProposalDropped,
    TextsErased,
    VerdictGiven,
)
from infra.clock import rfc3339
from infra.dispute_keys import DisputeKey
from infra.meta import decode_meta
from infra.store import StoredEvent

FIELDS: dict[type[DisputeEvent], tuple[str, ...]] = {
    DisputeOpened: ("opener", "role", "due_ms"),
    EvidenceFrozen: ("first_seq", "last_seq", "hash", "head_seq", "head_hash"),
    DisputeNoted: ("person", "role", "shared"),
    VerdictGiven: ("reviewer", "outcome", "due_ms"),
    CompensationProposed: ("proposal", "reviewer", "player", "amount", "due_ms"),
    CorrectionProposed: ("proposal", "reviewer", "due_ms"),
    ProposalApproved: ("proposal", "reviewer"),
    ProposalDropped: ("proposal", "why", "due_ms", "reviewer"),
    DisputeOverdue: ("due_ms",),
    DisputeClosed: ("why", "person"),
    TextsErased: ("person", "ground"),
}
"""What is shown of each event beside its text. Complete; a test checks it."""

TEXTS: dict[type[DisputeEvent], str] = {
    DisputeOpened: "statement",
    DisputeNoted: "text",
    VerdictGiven: "text",
    CompensationProposed: "text",
    CorrectionProposed: "text",
}
"""Where an event holds what somebody wrote, sealed."""

_INTERNAL = (CompensationProposed, CorrectionProposed, ProposalApproved, ProposalDropped)


def shown(
    stored: StoredEvent, event: DisputeEvent, key: DisputeKey | None, audience: OpenedAs
) -> dict[str, Any] | None:
    """One entry of the course: `seq`, `at`, `type`, its fields, and `text`, None where it is erased.

    None where it is not for the opener: proposals, and notes that are not shared; what came of them he sees as money.
    """
    if audience == "player" and (
        isinstance(event, _INTERNAL) or (isinstance(event, DisputeNoted) and not event.shared)
    ):
        return None
    entry: dict[str, Any] = {
        "seq": stored.seq,
        "at": rfc3339(decode_meta(stored.meta).at_ms),
        "type": stored.type,
        **{name: getattr(event, name) for name in FIELDS[type(event)]},
    }
    field = TEXTS.get(type(event))
    if field is not None:
        sealed: str = getattr(event, field)
        entry["text"] = None if key is None else key.open(stored.stream, stored.seq, sealed)
    return entry
