"""Every command is decided, every event applied, every field shown or sealed; and every clause and code has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain import decide as decide_module
from domain.commands import OpenTable, TableCommand
from domain.events import ACCOUNT_EVENTS, OPENINGS, SECRETS, TABLE_EVENTS, Event
from domain.evolve import HANDLED
from domain.evolve_hand import HANDLERS
from domain.halves import PUBLIC
from domain.table import Table, record
from tests.domain.table.given import given, opened

HERE = Path(__file__).parent
DOMAIN = Path(decide_module.__file__).parent
TABLE_LEVEL = ("decide.py", "decide_seats.py", "decide_hand.py", "table.py", "accounts.py")
CLAUSES = (*(f"t{n}" for n in range(1, 15)), "s2", "s6")

PRIVATE: dict[str, set[str]] = {
    "hand_started": {"table"},
    "table_state_written": {"table", "hand_id", "commitment"},
    "player_sat": {"auto_top_up"},
    "hand_voided": {"ops"},
    "hand_corrected": {"dispute_id", "reviewers"},
    "void_proposed": {"proposer"},
}
"""Fields that are no secret of a hand and yet not shown: whole states, a player's own wish, who of ops it was."""


def _tag(event: type[Event]) -> str:
    return str(event.__struct_config__.tag)


def test_every_table_event_is_applied() -> None:
    assert set(TABLE_EVENTS) == HANDLED
    assert set(HANDLERS) < HANDLED
    assert set(OPENINGS) < HANDLED


def test_every_table_command_is_decided() -> None:
    assert {*decide_module._DECIDERS, OpenTable} == set(TableCommand.__args__)


def test_every_event_has_a_tag_of_its_own() -> None:
    tags = [_tag(event) for event in (*TABLE_EVENTS, *ACCOUNT_EVENTS)]
    assert len(set(tags)) == len(tags)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", tag) for tag in tags)


@pytest.mark.parametrize("event", TABLE_EVENTS, ids=_tag)
def test_every_field_of_an_event_is_shown_sealed_or_named_as_neither(event: type[Event]) -> None:
    tag = _tag(event)
    public, secret, private = set(PUBLIC[tag]), set(SECRETS.get(event, ())), PRIVATE.get(tag, set())
    assert public | secret | private == set(event.__struct_fields__)
    assert not public & secret
    assert not public & private
    assert not secret & private


def test_nothing_is_shown_of_what_is_no_event_of_a_table() -> None:
    assert set(PUBLIC) == {_tag(event) for event in TABLE_EVENTS}


def test_what_is_sealed_is_sealed_for_a_hand() -> None:
    assert all("hand_id" in event.__struct_fields__ for event in SECRETS)


def test_a_record_holds_the_whole_table_but_the_hand_and_what_begins_anew() -> None:
    anew = {"acts", "deal_turn", "opened_at_ms", "proposal", "closed", "at_ms", "since_state"}
    hand = {"next_hand", "hand", "shuffle"}
    assert set(record(given(*opened()).table).__struct_fields__) == set(Table.__struct_fields__) - anew - hand


def test_every_clause_has_a_test() -> None:
    text = "".join(p.read_text() for p in sorted(HERE.glob("test_*.py")))
    named = set(re.findall(r"^def test_((?:[a-z]\d+_)+)", text, re.MULTILINE))
    tested = {clause for prefix in named for clause in prefix.strip("_").split("_")}
    assert [clause for clause in CLAUSES if clause not in tested] == []


def test_every_refusal_of_the_table_has_a_test() -> None:
    """Each code that these modules refuse with, under each of its clauses."""
    refusals = {
        found
        for name in TABLE_LEVEL
        for found in re.findall(r'Refused\(\s*"(\w+)", "(\w+)"', (DOMAIN / name).read_text())
    }
    assert len(refusals) > 20
    texts = "".join(p.read_text() for p in sorted(HERE.glob("test_*.py")))
    tested = set(re.findall(r'refused\(\s*"(\w+)", "(\w+)"', texts))
    tested |= set(re.findall(r'== \("(\w+)", "(\w+)"\)', texts))
    assert refusals - tested == set()
