"""Each recorded event is cited under clauses that the rulebook has, and under the right ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import domain
from domain.citing import _HAND, TABLE, clauses_of
from domain.events import TABLE_EVENTS, Event, HandStarted
from domain.evolve import evolve
from domain.evolve_hand import evolve_hand
from domain.games import GAMES
from domain.games.game import Matter
from domain.hand import Hand
from domain.handfile import parse, replay
from tests.domain.handfile.samples import changed, vector
from tests.domain.hands import events_of, for_seeds, random_hand

RULES = (Path(domain.__file__).parent / "RULES.md").read_text()
CLAUSES = set(re.findall(r"^- ([A-Z]\d+)\. ", RULES, re.MULTILINE))


def cited(events: tuple[Event, ...]) -> list[tuple[Event, tuple[str, ...]]]:
    hand: Hand | None = None
    found = []
    for event in events:
        found.append((event, clauses_of(hand, event)))
        hand = evolve(None, event, 0).hand if isinstance(event, HandStarted) else evolve_hand(hand, event)  # type: ignore[arg-type]
    return found


def test_every_event_of_a_table_has_its_clauses() -> None:
    assert set(TABLE) | set(_HAND) == set(TABLE_EVENTS)
    assert not set(TABLE) & set(_HAND)
    for game in GAMES.values():
        assert set(game.cites) == set(get_args(Matter))


@for_seeds(150)
def test_every_event_of_a_hand_is_cited_by_clauses_that_there_are(seed: int) -> None:
    for event, clauses in cited(events_of(random_hand(seed))):
        assert clauses, event
        assert set(clauses) <= CLAUSES, (event, clauses)
        assert ("T11" in clauses) == (
            getattr(event, "by", "player") == "clock" or event.__class__.__name__ == "TimeBankUsed"
        )


@pytest.mark.parametrize(
    ("game", "name", "expected"),
    [
        (
            "khrap",
            "helicopter with the bank exactly at the limit; nobody replaces a card",
            {("declared", "helicopter"): ("K5",)},
        ),
        (
            "khrap",
            "declarer fails with one trick, helper has none, shestok takes three",
            {
                ("declared", "khrap"): ("K3",),
                ("declared", "help"): ("K7",),
                ("declared", "shestok"): ("K8",),
                ("cards_drawn", ""): ("K8",),
                ("hand_settled", ""): ("T7", "T9", "K18"),
            },
        ),
        (
            "frap",
            "frap, one whist, two tricks each",
            {("declared", "frap"): ("F3",), ("declared", "whist"): ("F6",), ("cards_drawn", ""): ("F7",)},
        ),
    ],
)
def test_the_vectors_words_are_cited(game: str, name: str, expected: dict[tuple[str, str], tuple[str, ...]]) -> None:
    steps = replay(parse(changed(vector(game, name), "name", "x")))
    events = tuple(event for step in steps for event in step.events)
    found: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for event, clauses in cited(events):
        key = (str(type(event).__struct_config__.tag), getattr(event, "do", ""))
        found.setdefault(key, set()).add(clauses)
    for key, clauses in expected.items():
        assert found[key] == {clauses}, key


def test_k14_k15_the_first_card_of_a_trick_is_led_and_the_others_follow() -> None:
    name = "declarer fails with one trick, helper has none, shestok takes three"
    steps = replay(parse(changed(vector("khrap", name), "name", "x")))
    plays = [c for e, c in cited(tuple(e for s in steps for e in s.events)) if type(e).__name__ == "CardPlayed"]
    assert set(plays) == {("K14",), ("K15",)}
    assert plays[0] == ("K14",)
    assert plays.count(("K14",)) == 4
