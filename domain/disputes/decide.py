"""A command to a dispute → its events, or why it is refused. Source: rulebook R."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.disputes.commands import (
    AddNote,
    Approve,
    Close,
    DisputeCommand,
    Drop,
    EraseTexts,
    Expire,
    GiveVerdict,
    OpenDispute,
    ProposeCompensation,
    ProposeCorrection,
    Reviewer,
    Withdraw,
)
from domain.disputes.dispute import (
    ERASE_AFTER_MS,
    MOST_NOTES,
    MOST_PROPOSALS,
    OPEN_WITHIN_MS,
    REMEDY_MS,
    VERDICT_MS,
    Closed,
    Dispute,
    Judged,
    Open,
    Proposal,
    dealt_in,
    proposal_of,
)
from domain.events import (
    CompensationProposed,
    CorrectionProposed,
    DisputeClosed,
    DisputeEvent,
    DisputeNoted,
    DisputeOpened,
    DisputeOverdue,
    ProposalApproved,
    ProposalDropped,
    TextsErased,
    VerdictGiven,
)
from domain.refusal import Refused

Events = tuple[DisputeEvent, ...]


def decide(dispute: Dispute | None, command: DisputeCommand) -> Events | Refused:
    """The events of `command`. `dispute` is None where there is none yet; only OpenDispute takes that."""
    if isinstance(command, OpenDispute):
        return _open(dispute, command)
    assert dispute is not None, type(command)
    if isinstance(dispute.phase, Closed) and not isinstance(command, EraseTexts):
        return Refused("dispute_closed", "R3", "the dispute is closed; another player of the hand may open his own")
    return DECIDERS[type(command)](dispute, command)


def _open(dispute: Dispute | None, command: OpenDispute) -> Events | Refused:
    if dispute is not None:
        return Refused("dispute_exists", "R1", "one disputes a hand once; what is new is added as a note")
    dealt = any(p.player == command.opener for p in command.players)
    if command.reviewer is not None:
        if command.reviewer.seated:
            return _seated()
        if dealt:
            return Refused(
                "not_impartial", "R2", f"{command.opener} was dealt into this hand: he opens it as its player"
            )
    else:
        if not dealt:
            return Refused("not_in_hand", "R1", f"{command.opener} was not dealt into this hand")
        if command.at_ms > command.ended_ms + OPEN_WITHIN_MS:
            return Refused("too_late", "R1", "a hand is disputed within 30 days of its end")
    opened = DisputeOpened(
        hand_id=command.hand_id,
        table_id=command.table_id,
        currency=command.currency,
        opener=command.opener,
        role="player" if command.reviewer is None else "reviewer",
        players=command.players,
        due_ms=command.at_ms + VERDICT_MS,
        statement=command.statement,
    )
    return (opened, command.evidence)


def _seated() -> Refused:
    return Refused("holds_seat", "R2", "a reviewer holds no seat; leave the table first")


def _impartial(dispute: Dispute, reviewer: Reviewer) -> Refused | None:
    """R2: why this reviewer may not judge, or None."""
    if reviewer.seated:
        return _seated()
    if dealt_in(dispute, reviewer.name):
        return Refused("not_impartial", "R2", f"{reviewer.name} was dealt into the hand; another reviewer judges it")
    if dispute.role == "player" and dispute.opener == reviewer.name:
        return Refused("not_impartial", "R2", f"{reviewer.name} opened the dispute; another reviewer judges it")
    if reviewer.partners:
        with_ = ", ".join(reviewer.partners)
        detail = f"{reviewer.name} was dealt into hands with {with_} in the 90 days before; another reviewer judges it"
        return Refused("not_impartial", "R2", detail)
    return None


def _note(dispute: Dispute, command: AddNote) -> Events | Refused:
    if command.reviewer is not None and command.reviewer.seated:
        return _seated()
    if dispute.noted_by.count(command.person) >= MOST_NOTES:
        return Refused("not_offered", "R3", f"one adds at most {MOST_NOTES} notes to a dispute")
    shared = command.shared or command.role == "player"
    return (DisputeNoted(person=command.person, role=command.role, text=command.text, shared=shared),)


def _verdict(dispute: Dispute, command: GiveVerdict) -> Events | Refused:
    refused = _impartial(dispute, command.reviewer)
    if refused is not None:
        return refused
    if not isinstance(dispute.phase, Open):
        return Refused("not_offered", "R3", "there is a verdict already")
    given = VerdictGiven(
        reviewer=command.reviewer.name,
        outcome=command.outcome,
        due_ms=command.at_ms + REMEDY_MS,
        text=command.text,
    )
    return (given,)


def _may_propose(dispute: Dispute, reviewer: Reviewer, clause: str) -> Refused | None:
    refused = _impartial(dispute, reviewer)
    if refused is not None:
        return refused
    if not isinstance(dispute.phase, Judged) or dispute.phase.outcome != "upheld":
        return Refused("not_offered", clause, "only a dispute that was upheld is made good")
    if dispute.proposed_by.count(reviewer.name) >= MOST_PROPOSALS:
        return Refused("not_offered", clause, f"a reviewer makes at most {MOST_PROPOSALS} proposals in a dispute")
    return None


def _due_ms(dispute: Dispute, at_ms: int) -> int:
    assert isinstance(dispute.phase, Judged)
    return max(dispute.phase.due_ms, at_ms + REMEDY_MS)


def _propose_compensation(dispute: Dispute, command: ProposeCompensation) -> Events | Refused:
    assert command.amount > 0, command.amount
    refused = _may_propose(dispute, command.reviewer, "R4")
    if refused is not None:
        return refused
    if not dealt_in(dispute, command.player):
        return Refused("not_in_hand", "R4", f"{command.player} was not dealt into this hand")
    proposed = CompensationProposed(
        proposal=len(dispute.proposed_by) + 1,
        reviewer=command.reviewer.name,
        player=command.player,
        amount=command.amount,
        due_ms=_due_ms(dispute, command.at_ms),
        text=command.text,
    )
    return (proposed,)


def _propose_correction(dispute: Dispute, command: ProposeCorrection) -> Events | Refused:
    refused = _may_propose(dispute, command.reviewer, "R5")
    if refused is not None:
        return refused
    assert isinstance(dispute.phase, Judged)
    if dispute.corrected or any(p.kind == "correction" for p in dispute.phase.proposals):
        return Refused("not_offered", "R5", "a correction is proposed, or made, already")
    proposed = CorrectionProposed(
        proposal=len(dispute.proposed_by) + 1,
        reviewer=command.reviewer.name,
        due_ms=_due_ms(dispute, command.at_ms),
        text=command.text,
    )
    return (proposed,)


def _proposal(dispute: Dispute, number: int) -> Proposal | Refused:
    proposal = proposal_of(dispute, number)
    return proposal or Refused("not_offered", "R4", f"there is no open proposal {number}")


def _approve(dispute: Dispute, command: Approve) -> Events | Refused:
    proposal = _proposal(dispute, command.proposal)
    if isinstance(proposal, Refused):
        return proposal
    refused = _impartial(dispute, command.reviewer)
    if refused is not None:
        return refused
    assert isinstance(dispute.phase, Judged)
    if command.at_ms >= dispute.phase.due_ms:
        return Refused("not_offered", "R3", "the time for a second signature has passed: it lapses; propose it anew")
    if proposal.reviewer == command.reviewer.name:
        clause = "R4" if proposal.kind == "compensation" else "R5"
        return Refused("two_persons", clause, f"{proposal.reviewer} proposed it; another reviewer must approve")
    return (ProposalApproved(proposal=proposal.proposal, reviewer=command.reviewer.name),)


def _drop(dispute: Dispute, command: Drop) -> Events | Refused:
    proposal = _proposal(dispute, command.proposal)
    if isinstance(proposal, Refused):
        return proposal
    mine = proposal.reviewer == command.reviewer.name
    refused = None if mine else _impartial(dispute, command.reviewer)
    if refused is not None:
        return refused
    dropped = ProposalDropped(
        proposal=proposal.proposal,
        why="withdrawn" if mine else "declined",
        due_ms=_due_ms(dispute, command.at_ms),
        reviewer=command.reviewer.name,
    )
    return (dropped,)


def _close(dispute: Dispute, command: Close) -> Events | Refused:
    refused = _impartial(dispute, command.reviewer)
    if refused is not None:
        return refused
    if not isinstance(dispute.phase, Judged):
        return Refused("not_offered", "R3", "there is no verdict yet")
    if dispute.phase.proposals:
        return Refused("not_offered", "R3", "a proposal is open: approve it, or drop it")
    return (DisputeClosed(why="done", person=command.reviewer.name),)


def _withdraw(dispute: Dispute, command: Withdraw) -> Events | Refused:
    if command.person != dispute.opener:
        return Refused("not_offered", "R3", f"{dispute.opener} opened it, and may withdraw it")
    if not isinstance(dispute.phase, Open):
        return Refused("not_offered", "R3", "there is a verdict already")
    return (DisputeClosed(why="withdrawn", person=command.person),)


def _expire(dispute: Dispute, command: Expire) -> Events | Refused:
    phase = dispute.phase
    assert not isinstance(phase, Closed)
    if command.at_ms < phase.due_ms:
        return Refused("not_offered", "R3", f"the deadline is {phase.due_ms}, it is {command.at_ms}")
    if isinstance(phase, Open):
        return (DisputeOverdue(due_ms=command.at_ms + VERDICT_MS),)
    due_ms = command.at_ms + REMEDY_MS
    lapsed = tuple(ProposalDropped(proposal=p.proposal, why="lapsed", due_ms=due_ms) for p in phase.proposals)
    return lapsed or (DisputeClosed(why="expired"),)


def _erase(dispute: Dispute, command: EraseTexts) -> Events | Refused:
    name = command.reviewer.name
    refused = _impartial(dispute, command.reviewer)
    if refused is not None:
        return refused
    if not isinstance(dispute.phase, Closed):
        return Refused("not_offered", "R6", "the dispute is not closed: its texts are still needed")
    if dispute.erased:
        return Refused("texts_erased", "R6", "the texts of this dispute are erased already")
    if name in dispute.decided_by:
        return Refused("not_impartial", "R6", f"{name} judged or proposed in this dispute; another reviewer erases it")
    if command.at_ms < dispute.at_ms + ERASE_AFTER_MS:
        return Refused("not_offered", "R6", "texts are erased 30 days after the dispute was closed, and not before")
    return (TextsErased(person=name, ground=command.ground),)


DECIDERS: dict[type, Callable[[Dispute, Any], Events | Refused]] = {
    AddNote: _note,
    GiveVerdict: _verdict,
    ProposeCompensation: _propose_compensation,
    ProposeCorrection: _propose_correction,
    Approve: _approve,
    Drop: _drop,
    Close: _close,
    Withdraw: _withdraw,
    Expire: _expire,
    EraseTexts: _erase,
}
"""Complete over `DisputeCommand` but for OpenDispute; a test checks it."""
