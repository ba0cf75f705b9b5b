"""Tables of handlers are complete over the events of a hand, and what they do not know they do not pass over."""

from __future__ import annotations

import pytest

from domain.events import TABLE_EVENTS, DeadlinesRenewed, HandStarted, SeedDisclosed, VoidProposed
from domain.evolve_hand import HANDLERS, evolve_hand
from domain.games import GAMES, game_of, newest
from domain.telling import _TELLERS
from tests.domain.hands import GAMES as NAMES
from tests.domain.hands import random_hand

OF_A_HAND = set(TABLE_EVENTS[TABLE_EVENTS.index(HandStarted) :])
"""In `TableEvent` they come after the events of the table."""


def test_every_event_of_a_hand_is_folded() -> None:
    """HandStarted makes the hand; a proposal to void it and its seed's disclosure are the table's."""
    assert set(HANDLERS) == OF_A_HAND - {HandStarted, VoidProposed, SeedDisclosed}


def test_every_event_of_a_hand_is_told() -> None:
    assert set(_TELLERS) == set(HANDLERS) | {HandStarted}


def test_an_event_that_is_none_of_the_hand_is_not_passed_over() -> None:
    hand = random_hand(1)[0].after
    with pytest.raises(KeyError):
        evolve_hand(hand, DeadlinesRenewed())


def test_every_game_says_under_which_clause_it_asks() -> None:
    assert {name for name, _ in GAMES} == set(NAMES)
    for game in GAMES.values():
        assert game_of(game.options(), game.rules) is game
        assert newest(game.name).rules >= game.rules
        assert set(game.debt_clauses) >= set(game.exchanges)
        assert set(game.needs) <= {"helicopter", "ace", "longing"}
