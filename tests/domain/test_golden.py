"""K, F, C: whole hands as text, replayed and told again; every clause of these sections has one at least."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from domain.handfile import check
from tests.domain.goldens import FOLDER, read, told

TEXTS = sorted(FOLDER.glob("*.txt"))
RULES = Path(__file__).parents[2] / "domain" / "RULES.md"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_golden_hand_comes_out_as_it_is_told(path: Path) -> None:
    text = path.read_text()
    if os.environ.get("KHRAP_GOLDEN") == "write":
        path.write_text(told(text))
    assert told(text) == text
    assert check(read(text).file).holds


def clauses() -> list[str]:
    """The clauses of sections K, F and C, as the rulebook numbers them."""
    return re.findall(r"^- ([KFC]\d+)\.", RULES.read_text(), re.MULTILINE)


def test_the_rulebook_has_the_clauses_that_are_looked_for() -> None:
    assert len(clauses()) == len(set(clauses())) == 18 + 12 + 7


@pytest.mark.parametrize("clause", clauses())
def test_every_clause_has_a_golden_hand(clause: str) -> None:
    game = {"K": "khrap", "F": "frap", "C": "khrap5"}[clause[0]]
    about = [path.stem for path in TEXTS if clause in read(path.read_text()).clauses]
    assert about, f"no golden hand is about {clause}"
    games = {read(path.read_text()).file.game for path in TEXTS if path.stem in about}
    assert game in games, f"{clause} is a clause of {game}, and only {games} show it"


def test_no_golden_hand_is_about_a_clause_that_is_not_there() -> None:
    there = set(re.findall(r"^- ([A-Z]\d+)\.", RULES.read_text(), re.MULTILINE))
    for path in TEXTS:
        assert read(path.read_text()).clauses <= there, path.stem
