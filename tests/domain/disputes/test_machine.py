"""R: any commands in any order, by a model that knows the rules in its own words."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

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
from domain.disputes.dispute import due_ms
from domain.events import DisputeEvent, ProposalApproved, VerdictGiven
from domain.refusal import Refused
from tests.domain.disputes.test_disputes import EVIDENCE, HAND, PLAYERS, T0, TABLE

PARTIES = frozenset({"anna", "boris"})
PARTNERS = {"paul": ("anna",)}
NAMES = ("rita", "roman", "rolf", "paul", "anna", "boris")


class Disputes(RuleBasedStateMachine):
    """One dispute. The model: who proposed what, who signed, and what was paid."""

    def __init__(self) -> None:
        super().__init__()
        self.dispute: Dispute | None = None
        self.log: list[tuple[DisputeEvent, int]] = []
        self.now = T0
        self.seated: set[str] = set()
        self.signatures: dict[int, tuple[str, str]] = {}
        self.authors: dict[int, str] = {}
        self.amounts: dict[int, tuple[str, int]] = {}
        self.deciders: set[str] = set()

    def reviewer(self, name: str) -> Reviewer:
        return Reviewer(name=name, seated=name in self.seated, partners=PARTNERS.get(name, ()))

    def barred(self, name: str) -> bool:
        """R2, in other words."""
        return name in self.seated or name in PARTIES or name in PARTNERS

    def do(self, command: DisputeCommand) -> bool:
        events = decide(self.dispute, command)
        if isinstance(events, Refused):
            return False
        assert events
        for event in events:
            self.dispute = evolve(self.dispute, event, command.at_ms)
            self.log.append((event, command.at_ms))
        return True

    @precondition(lambda self: self.dispute is None)
    @rule(opener=st.sampled_from(("anna", "boris", "eve", "rita")), as_reviewer=st.booleans())
    def open(self, opener: str, as_reviewer: bool) -> None:
        done = self.do(
            OpenDispute(
                at_ms=self.now,
                hand_id=HAND,
                table_id=TABLE,
                currency="RUB",
                players=PLAYERS,
                ended_ms=T0,
                opener=opener,
                reviewer=self.reviewer(opener) if as_reviewer else None,
                evidence=EVIDENCE,
                statement="x",
            )
        )
        in_time = self.now <= T0 + 30 * 86_400_000
        assert done == (
            (opener not in PARTIES and opener not in self.seated) if as_reviewer else opener in PARTIES and in_time
        )

    @rule(name=st.sampled_from(NAMES))
    def sits_or_leaves(self, name: str) -> None:
        self.seated ^= {name}

    @rule(days=st.integers(0, 20))
    def time_passes(self, days: int) -> None:
        self.now += days * 86_400_000

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES), upheld=st.booleans())
    def verdict(self, name: str, upheld: bool) -> None:
        assert self.dispute is not None
        was_open = isinstance(self.dispute.phase, Open)
        done = self.do(
            GiveVerdict(
                at_ms=self.now, reviewer=self.reviewer(name), outcome="upheld" if upheld else "rejected", text="x"
            )
        )
        assert done == (was_open and not self.barred(name))
        if done:
            self.deciders.add(name)

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES), player=st.sampled_from(("anna", "boris", "eve")), amount=st.integers(1, 900))
    def propose(self, name: str, player: str, amount: int) -> None:
        if self.do(
            ProposeCompensation(at_ms=self.now, reviewer=self.reviewer(name), player=player, amount=amount, text="x")
        ):
            assert player in PARTIES
            self._proposed(name, player, amount)

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES))
    def propose_correction(self, name: str) -> None:
        assert self.dispute is not None
        if self.do(ProposeCorrection(at_ms=self.now, reviewer=self.reviewer(name), text="x")):
            self._proposed(name, "", 0)

    def _proposed(self, name: str, player: str, amount: int) -> None:
        assert self.dispute is not None
        assert not self.barred(name)
        assert isinstance(self.dispute.phase, Judged)
        assert self.dispute.phase.outcome == "upheld"
        number = len(self.dispute.proposed_by)
        assert number not in self.authors
        self.authors[number] = name
        self.deciders.add(name)
        self.amounts[number] = (player, amount)

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES), number=st.integers(1, 4))
    def approve(self, name: str, number: int) -> None:
        if self.do(Approve(at_ms=self.now, reviewer=self.reviewer(name), proposal=number)):
            assert not self.barred(name)
            assert self.authors[number] != name
            assert number not in self.signatures
            self.signatures[number] = (self.authors[number], name)

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES), number=st.integers(1, 4))
    def drop(self, name: str, number: int) -> None:
        if self.do(Drop(at_ms=self.now, reviewer=self.reviewer(name), proposal=number)):
            assert self.authors[number] == name or not self.barred(name)
            assert number not in self.signatures

    @precondition(lambda self: self.dispute is not None)
    @rule(name=st.sampled_from(NAMES), how=st.sampled_from(("note", "withdraw", "close", "expire", "erase")))
    def other(self, name: str, how: str) -> None:
        assert self.dispute is not None
        before = self.dispute.phase
        due = due_ms(self.dispute)
        match how:
            case "note":
                assert self.do(AddNote(at_ms=self.now, person=name, role="reviewer", text="x")) != isinstance(
                    before, Closed
                )
            case "withdraw":
                done = self.do(Withdraw(at_ms=self.now, person=name))
                assert done == (isinstance(before, Open) and name == self.dispute.opener)
            case "close":
                done = self.do(Close(at_ms=self.now, reviewer=self.reviewer(name)))
                assert done == (isinstance(before, Judged) and not before.proposals and not self.barred(name))
            case "expire":
                done = self.do(Expire(at_ms=self.now))
                assert done == (due is not None and self.now >= due)
                if done and isinstance(before, Open):
                    assert isinstance(self.dispute.phase, Open), "it never ends unheard"
            case _:
                erased = self.dispute.erased
                closed_ms = self.log[-1][1]
                opened_it = (self.dispute.role, self.dispute.opener) == ("player", name)
                done = self.do(EraseTexts(at_ms=self.now, reviewer=self.reviewer(name), ground="request"))
                assert done == (
                    isinstance(before, Closed)
                    and not erased
                    and not self.barred(name)
                    and not opened_it
                    and name not in self.deciders
                    and self.now >= closed_ms + 30 * 86_400_000
                )

    @invariant()
    def money_moves_by_two_hands_alone(self) -> None:
        if self.dispute is None:
            return
        paid = [self.amounts[n] for n in sorted(self.signatures) if self.amounts[n][1]]
        assert sorted(self.dispute.paid) == sorted(paid)
        assert self.dispute.corrected == any(not self.amounts[n][1] for n in self.signatures)
        assert all(first != second for first, second in self.signatures.values())

    @invariant()
    def the_log_alone_gives_the_state(self) -> None:
        dispute: Dispute | None = None
        for event, at_ms in self.log:
            dispute = evolve(dispute, event, at_ms)
        assert dispute == self.dispute
        assert sum(isinstance(e, VerdictGiven) for e, _ in self.log) <= 1
        assert sum(isinstance(e, ProposalApproved) for e, _ in self.log) == len(self.signatures)

    @invariant()
    def who_waits_has_a_deadline(self) -> None:
        if self.dispute is not None:
            assert (due_ms(self.dispute) is None) == isinstance(self.dispute.phase, Closed)


TestDisputes = Disputes.TestCase
TestDisputes.settings = settings(
    max_examples=int(os.environ.get("KHRAP_EXAMPLES", "60")), stateful_step_count=40, deadline=None, derandomize=True
)
