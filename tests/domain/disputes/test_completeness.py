"""Every command of a dispute is decided, every event is applied, every clause of R has a test."""

from __future__ import annotations

import re
from pathlib import Path

from domain.disputes.commands import DisputeCommand, OpenDispute
from domain.disputes.decide import DECIDERS
from domain.events import DISPUTE_EVENTS, EVENTS

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def test_every_command_is_decided() -> None:
    assert {*DECIDERS, OpenDispute} == set(DisputeCommand.__args__)


def test_every_event_is_one_of_the_log() -> None:
    assert set(DISPUTE_EVENTS) < set(EVENTS)


def test_every_refusal_has_a_test() -> None:
    text = (ROOT / "domain" / "disputes" / "decide.py").read_text()
    refusals = set(re.findall(r'Refused\(\s*"(\w+)", "(\w+)"', text))
    assert len(refusals) >= 10
    tested = set(re.findall(r'== \("(\w+)", "(\w+)"\)', (HERE / "test_disputes.py").read_text()))
    assert refusals - tested - {("holds_seat", "R2"), ("not_impartial", "R2")} == set()


def test_every_clause_of_review_has_a_test() -> None:
    rules = (ROOT / "domain" / "RULES.md").read_text()
    clauses = {each.lower() for each in re.findall(r"^- (R\d)\.", rules, re.MULTILINE)}
    assert clauses == {f"r{n}" for n in range(1, 8)}
    names = "".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))
    assert {c for c in clauses if f"def test_{c}_" not in names} == set()
