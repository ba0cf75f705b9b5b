"""R1 to R6: disputes, command by command."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from domain.disputes import Closed, Dispute, Judged, Open, decide, evolve
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
from domain.disputes.dispute import ERASE_AFTER_MS, MOST_NOTES, MOST_PROPOSALS, OPEN_WITHIN_MS, REMEDY_MS, VERDICT_MS
from domain.events import (
    CompensationProposed,
    CorrectionProposed,
    DealtIn,
    DisputeClosed,
    DisputeEvent,
    DisputeNoted,
    DisputeOpened,
    DisputeOverdue,
    EvidenceFrozen,
    Outcome,
    ProposalApproved,
    ProposalDropped,
    TextsErased,
    VerdictGiven,
)
from domain.refusal import Refused

T0 = 1_700_000_000_000
HAND, TABLE = "hand", "table"
PLAYERS = (DealtIn(seat=0, player="anna"), DealtIn(seat=2, player="boris"))
EVIDENCE = EvidenceFrozen(first_seq=5, last_seq=40, hash="ab", head_seq=42, head_hash="cd")
RITA, ROMAN = Reviewer(name="rita"), Reviewer(name="roman")


def opening(opener: str = "anna", reviewer: Reviewer | None = None, at_ms: int = T0) -> OpenDispute:
    return OpenDispute(
        at_ms=at_ms,
        hand_id=HAND,
        table_id=TABLE,
        currency="RUB",
        players=PLAYERS,
        ended_ms=T0 - 1_000,
        opener=opener,
        reviewer=reviewer,
        evidence=EVIDENCE,
        statement="sealed",
    )


def folded(*events: DisputeEvent, at_ms: int = T0) -> Dispute:
    dispute: Dispute | None = None
    for event in events:
        dispute = evolve(dispute, event, at_ms)
    assert dispute is not None
    return dispute


def opened(role: Any = "player", opener: str = "anna") -> DisputeOpened:
    return DisputeOpened(
        hand_id=HAND,
        table_id=TABLE,
        currency="RUB",
        opener=opener,
        role=role,
        players=PLAYERS,
        due_ms=T0 + VERDICT_MS,
        statement="sealed",
    )


def judged(outcome: Outcome = "upheld") -> VerdictGiven:
    return VerdictGiven(reviewer="rita", outcome=outcome, due_ms=T0 + REMEDY_MS, text="why")


def proposed(number: int = 1, reviewer: str = "rita") -> CompensationProposed:
    return CompensationProposed(
        proposal=number, reviewer=reviewer, player="anna", amount=500, due_ms=T0 + REMEDY_MS, text="why"
    )


def refused(dispute: Dispute | None, command: DisputeCommand) -> tuple[str, str]:
    found = decide(dispute, command)
    assert isinstance(found, Refused), found
    assert found.detail
    return found.code, found.clause


OPEN = folded(opened(), EVIDENCE)
UPHELD = folded(opened(), EVIDENCE, judged())
PROPOSED = folded(opened(), EVIDENCE, judged(), proposed())
CLOSED = folded(opened(), EVIDENCE, judged(), DisputeClosed(why="done", person="rita"))


def test_r1_a_player_of_the_hand_opens_it_once_and_the_evidence_is_frozen() -> None:
    assert decide(None, opening()) == (opened(), EVIDENCE)
    assert refused(OPEN, opening()) == ("dispute_exists", "R1")
    assert refused(None, opening("eve")) == ("not_in_hand", "R1")


def test_r1_a_player_has_30_days_and_a_reviewer_any_time() -> None:
    last = T0 - 1_000 + OPEN_WITHIN_MS
    assert not isinstance(decide(None, opening(at_ms=last)), Refused)
    assert refused(None, opening(at_ms=last + 1)) == ("too_late", "R1")
    found = decide(None, opening("rita", RITA, last + 1))
    assert not isinstance(found, Refused)
    assert found[0] == replace(opened("reviewer", "rita"), due_ms=last + 1 + VERDICT_MS)


def test_r2_a_reviewer_with_a_seat_and_one_of_the_hand_open_nothing() -> None:
    assert refused(None, opening("rita", replace(RITA, seated=True))) == ("holds_seat", "R2")
    assert refused(None, opening("anna", Reviewer(name="anna"))) == ("not_impartial", "R2")


def acts(reviewer: Reviewer) -> list[tuple[Dispute, DisputeCommand]]:
    """Everything that R2 keeps from a reviewer who is a party."""
    return [
        (OPEN, GiveVerdict(at_ms=T0, reviewer=reviewer, outcome="upheld", text="x")),
        (UPHELD, ProposeCompensation(at_ms=T0, reviewer=reviewer, player="anna", amount=1, text="x")),
        (UPHELD, ProposeCorrection(at_ms=T0, reviewer=reviewer, text="x")),
        (PROPOSED, Approve(at_ms=T0, reviewer=reviewer, proposal=1)),
        (PROPOSED, Drop(at_ms=T0, reviewer=reviewer, proposal=1)),
        (UPHELD, Close(at_ms=T0, reviewer=reviewer)),
    ]


@pytest.mark.parametrize("n", range(6))
def test_r2_no_reviewer_judges_with_a_seat_his_own_hand_or_his_partners(n: int) -> None:
    for reviewer, code in (
        (replace(ROMAN, seated=True), "holds_seat"),
        (Reviewer(name="boris"), "not_impartial"),
        (Reviewer(name="anna"), "not_impartial"),
        (replace(ROMAN, partners=("boris",)), "not_impartial"),
    ):
        dispute, command = acts(reviewer)[n]
        assert refused(dispute, command) == (code, "R2")
    dispute, command = acts(ROMAN)[n]
    assert not isinstance(decide(dispute, command), Refused)


def test_r2_who_opened_it_as_a_player_does_not_judge_it_even_if_the_hand_was_recorded_without_him() -> None:
    dispute = folded(opened(opener="gleb"))
    command = GiveVerdict(at_ms=T0, reviewer=Reviewer(name="gleb"), outcome="upheld", text="x")
    assert refused(dispute, command) == ("not_impartial", "R2")
    of_his_own_accord = folded(opened("reviewer", "gleb"))
    assert not isinstance(decide(of_his_own_accord, command), Refused)


def test_r3_notes_of_the_opener_are_shared_and_a_dispute_has_room_for_so_many() -> None:
    note = AddNote(at_ms=T0, person="anna", role="player", text="x")
    assert decide(OPEN, note) == (DisputeNoted(person="anna", role="player", text="x", shared=True),)
    internal = AddNote(at_ms=T0, person="rita", role="reviewer", text="x", reviewer=RITA)
    assert decide(OPEN, internal) == (DisputeNoted(person="rita", role="reviewer", text="x", shared=False),)
    full = replace(OPEN, noted_by=("anna",) * MOST_NOTES)
    assert refused(full, note) == ("not_offered", "R3")
    assert refused(OPEN, replace(internal, reviewer=replace(RITA, seated=True))) == ("holds_seat", "R2")
    # Once the opener's notes took all the room, and no reviewer could write one.
    assert not isinstance(decide(full, internal), Refused)


def test_r3_one_verdict_with_seven_days_to_make_it_good() -> None:
    command = GiveVerdict(at_ms=T0, reviewer=RITA, outcome="upheld", text="why")
    assert decide(OPEN, command) == (judged(),)
    assert UPHELD.phase == Judged("upheld", "rita", T0 + REMEDY_MS)
    assert refused(UPHELD, command) == ("not_offered", "R3")


def test_r3_a_dispute_without_a_verdict_never_ends_unheard() -> None:
    due = T0 + VERDICT_MS
    assert refused(OPEN, Expire(at_ms=due - 1)) == ("not_offered", "R3")
    dispute = OPEN
    for n in range(1, 4):
        found = decide(dispute, Expire(at_ms=due))
        assert found == (DisputeOverdue(due_ms=due + VERDICT_MS),)
        assert not isinstance(found, Refused)
        dispute = evolve(dispute, found[0], due)
        due += VERDICT_MS
        assert dispute.phase == Open(due, n)


def test_r3_a_proposal_lapses_and_gives_seven_days_more_then_the_dispute_ends() -> None:
    due = T0 + REMEDY_MS
    lapsed = decide(PROPOSED, Expire(at_ms=due))
    assert lapsed == (ProposalDropped(proposal=1, why="lapsed", due_ms=due + REMEDY_MS),)
    assert not isinstance(lapsed, Refused)
    after = evolve(PROPOSED, lapsed[0], due)
    assert refused(after, Expire(at_ms=due)) == ("not_offered", "R3")
    assert decide(after, Expire(at_ms=due + REMEDY_MS)) == (DisputeClosed(why="expired"),)


def test_r3_the_opener_withdraws_until_the_verdict() -> None:
    assert decide(OPEN, Withdraw(at_ms=T0, person="anna")) == (DisputeClosed(why="withdrawn", person="anna"),)
    assert refused(OPEN, Withdraw(at_ms=T0, person="boris")) == ("not_offered", "R3")
    assert refused(UPHELD, Withdraw(at_ms=T0, person="anna")) == ("not_offered", "R3")


def test_r3_a_reviewer_closes_it_once_nothing_is_open() -> None:
    assert decide(UPHELD, Close(at_ms=T0, reviewer=RITA)) == (DisputeClosed(why="done", person="rita"),)
    assert refused(OPEN, Close(at_ms=T0, reviewer=RITA)) == ("not_offered", "R3")
    assert refused(PROPOSED, Close(at_ms=T0, reviewer=ROMAN)) == ("not_offered", "R3")
    assert CLOSED.phase == Closed("done", "upheld")


@pytest.mark.parametrize(
    "command",
    [
        *[command for _, command in acts(ROMAN)],
        AddNote(at_ms=T0, person="anna", role="player", text="x"),
        Withdraw(at_ms=T0, person="anna"),
        Expire(at_ms=T0 + 10 * VERDICT_MS),
    ],
    ids=lambda c: type(c).__name__,
)
def test_r3_in_a_closed_dispute_nothing_more_is_decided(command: DisputeCommand) -> None:
    assert refused(CLOSED, command) == ("dispute_closed", "R3")


def test_r4_compensation_needs_an_upheld_dispute_a_player_of_the_hand_and_two_reviewers() -> None:
    command = ProposeCompensation(at_ms=T0, reviewer=RITA, player="anna", amount=500, text="why")
    assert decide(UPHELD, command) == (proposed(),)
    for dispute in (OPEN, folded(opened(), judged("rejected"))):
        assert refused(dispute, command) == ("not_offered", "R4")
    assert refused(UPHELD, replace(command, player="eve")) == ("not_in_hand", "R4")
    full = replace(UPHELD, proposed_by=("rita",) * MOST_PROPOSALS)
    assert refused(full, command) == ("not_offered", "R4")
    # Once one reviewer could use up all of it, and nobody could make the hand good any more.
    by_another = decide(full, replace(command, reviewer=ROMAN))
    assert not isinstance(by_another, Refused)
    assert by_another == (replace(proposed(), proposal=MOST_PROPOSALS + 1, reviewer="roman"),)
    assert refused(PROPOSED, Approve(at_ms=T0, reviewer=RITA, proposal=1)) == ("two_persons", "R4")
    assert refused(PROPOSED, Approve(at_ms=T0, reviewer=ROMAN, proposal=2)) == ("not_offered", "R4")
    # The clock may be away: what is past its deadline is not signed all the same.
    late = Approve(at_ms=T0 + REMEDY_MS, reviewer=ROMAN, proposal=1)
    assert refused(PROPOSED, late) == ("not_offered", "R3")
    assert isinstance(decide(PROPOSED, replace(late, at_ms=late.at_ms - 1)), tuple)
    approved = decide(PROPOSED, Approve(at_ms=T0, reviewer=ROMAN, proposal=1))
    assert approved == (ProposalApproved(proposal=1, reviewer="roman"),)
    paid = folded(opened(), judged(), proposed(), ProposalApproved(proposal=1, reviewer="roman"))
    assert paid.paid == (("anna", 500),)
    assert refused(paid, Approve(at_ms=T0, reviewer=ROMAN, proposal=1)) == ("not_offered", "R4")


def test_r4_its_author_takes_a_proposal_back_and_another_declines_it() -> None:
    for reviewer, why in ((RITA, "withdrawn"), (ROMAN, "declined")):
        found = decide(PROPOSED, Drop(at_ms=T0, reviewer=reviewer, proposal=1))
        assert found == (
            ProposalDropped(proposal=1, why=why, due_ms=T0 + REMEDY_MS, reviewer=reviewer.name),  # type: ignore[arg-type]
        )
    assert refused(UPHELD, Drop(at_ms=T0, reviewer=RITA, proposal=1)) == ("not_offered", "R4")


def test_r5_one_correction_by_two_reviewers() -> None:
    command = ProposeCorrection(at_ms=T0, reviewer=RITA, text="why")
    first = CorrectionProposed(proposal=1, reviewer="rita", due_ms=T0 + REMEDY_MS, text="why")
    assert decide(UPHELD, command) == (first,)
    assert refused(OPEN, command) == ("not_offered", "R5")
    dispute = folded(opened(), judged(), first)
    assert refused(dispute, command) == ("not_offered", "R5")
    assert refused(dispute, Approve(at_ms=T0, reviewer=RITA, proposal=1)) == ("two_persons", "R5")
    corrected = evolve(dispute, ProposalApproved(proposal=1, reviewer="roman"), T0)
    assert corrected.corrected
    assert refused(corrected, command) == ("not_offered", "R5")


def test_r6_texts_are_erased_once_it_is_closed_and_once() -> None:
    later = T0 + ERASE_AFTER_MS
    command = EraseTexts(at_ms=later, reviewer=Reviewer(name="olaf"), ground="request")
    assert refused(UPHELD, command) == ("not_offered", "R6")
    erased = TextsErased(person="olaf", ground="request")
    assert decide(CLOSED, command) == (erased,)
    assert refused(CLOSED, replace(command, at_ms=later - 1)) == ("not_offered", "R6")
    assert refused(evolve(CLOSED, erased, T0), command) == ("texts_erased", "R6")


def test_r6_texts_are_erased_by_an_impartial_reviewer_who_decided_nothing() -> None:
    first = CorrectionProposed(proposal=1, reviewer="roman", due_ms=T0 + REMEDY_MS, text="why")
    closed = folded(
        opened(), judged(), first, ProposalDropped(proposal=1, why="lapsed", due_ms=T0), DisputeClosed(why="expired")
    )
    command = EraseTexts(at_ms=T0 + ERASE_AFTER_MS, reviewer=Reviewer(name="olaf"), ground="request")
    assert decide(closed, command) == (TextsErased(person="olaf", ground="request"),)
    for reviewer in (RITA, ROMAN):
        assert refused(closed, replace(command, reviewer=reviewer)) == ("not_impartial", "R6")
    for reviewer in (Reviewer(name="anna"), Reviewer(name="olaf", partners=("boris",))):
        assert refused(closed, replace(command, reviewer=reviewer)) == ("not_impartial", "R2")
    seated = replace(command, reviewer=Reviewer(name="olaf", seated=True))
    assert refused(closed, seated) == ("holds_seat", "R2")
