"""A dispute's event, applied. It cannot refuse: what is recorded happened. Source: rulebook R."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from domain.disputes.dispute import Closed, Dispute, Judged, Open, Proposal, proposal_of
from domain.events import (
    CompensationProposed,
    CorrectionProposed,
    DisputeClosed,
    DisputeEvent,
    DisputeNoted,
    DisputeOpened,
    DisputeOverdue,
    EvidenceFrozen,
    ProposalApproved,
    ProposalDropped,
    TextsErased,
    VerdictGiven,
)


def evolve(dispute: Dispute | None, event: DisputeEvent, at_ms: int) -> Dispute:
    """The dispute after `event`, which was recorded at `at_ms`."""
    if isinstance(event, DisputeOpened):
        return Dispute(
            hand_id=event.hand_id,
            table_id=event.table_id,
            currency=event.currency,
            opener=event.opener,
            role=event.role,
            players=event.players,
            phase=Open(event.due_ms),
            opened_ms=at_ms,
            at_ms=at_ms,
        )
    assert dispute is not None, type(event)
    return replace(_after(dispute, event), at_ms=at_ms)


def _after(dispute: Dispute, event: DisputeEvent) -> Dispute:
    phase = dispute.phase
    match event:
        case DisputeOpened():
            raise AssertionError("a dispute is opened once")
        case EvidenceFrozen():
            return dispute
        case DisputeNoted():
            return replace(dispute, noted_by=(*dispute.noted_by, event.person))
        case VerdictGiven(outcome=outcome, reviewer=reviewer, due_ms=due_ms):
            return replace(_decided(dispute, reviewer), phase=Judged(outcome, reviewer, due_ms))
        case CompensationProposed():
            proposal = Proposal(
                proposal=event.proposal,
                kind="compensation",
                reviewer=event.reviewer,
                player=event.player,
                amount=event.amount,
            )
            return _proposed(dispute, proposal, event.due_ms)
        case CorrectionProposed():
            proposal = Proposal(proposal=event.proposal, kind="correction", reviewer=event.reviewer)
            return _proposed(dispute, proposal, event.due_ms)
        case ProposalApproved(proposal=number):
            approved = proposal_of(dispute, number)
            assert approved is not None, number
            if approved.kind == "correction":
                return replace(_without(dispute, number), corrected=True)
            return replace(_without(dispute, number), paid=(*dispute.paid, (approved.player, approved.amount)))
        case ProposalDropped(proposal=number, due_ms=due_ms):
            after = _without(dispute, number)
            assert isinstance(after.phase, Judged)
            return replace(after, phase=replace(after.phase, due_ms=due_ms))
        case DisputeOverdue(due_ms=due_ms):
            assert isinstance(phase, Open)
            return replace(dispute, phase=Open(due_ms, phase.overdue + 1))
        case DisputeClosed(why=why):
            return replace(dispute, phase=Closed(why, phase.outcome if isinstance(phase, Judged) else None))
        case TextsErased():
            return replace(dispute, erased=True)
        case _:
            assert_never(event)


def _proposed(dispute: Dispute, proposal: Proposal, due_ms: int) -> Dispute:
    phase = dispute.phase
    assert isinstance(phase, Judged)
    judged = replace(phase, due_ms=due_ms, proposals=(*phase.proposals, proposal))
    by = (*dispute.proposed_by, proposal.reviewer)
    return replace(_decided(dispute, proposal.reviewer), phase=judged, proposed_by=by)


def _decided(dispute: Dispute, reviewer: str) -> Dispute:
    if reviewer in dispute.decided_by:
        return dispute
    return replace(dispute, decided_by=(*dispute.decided_by, reviewer))


def _without(dispute: Dispute, number: int) -> Dispute:
    phase = dispute.phase
    assert isinstance(phase, Judged)
    left = tuple(p for p in phase.proposals if p.proposal != number)
    return replace(dispute, phase=replace(phase, proposals=left))
