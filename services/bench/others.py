"""Rules engines of others, for comparison: OpenSpiel (C++, from Python) and PokerKit (Python), of the extra `bench`."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

EXTRA = ".venv/bin/python -m pip install --editable '.[bench]'"

STACK, PLAYERS = 200, 6


class NotInstalled(Exception):
    """The package is not there; the text says how to have it."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is not installed; it comes with the extra `bench`: {EXTRA}")


def euchre() -> Any:
    """OpenSpiel's game of euchre. Raises NotInstalled."""
    try:
        import pyspiel
    except ImportError:
        raise NotInstalled("open_spiel") from None
    return pyspiel.load_game("euchre")


def recorded_euchre(game: Any, games: int, chance: random.Random) -> list[list[int]]:
    """Whole games played by chance: the actions of each, its deals included."""
    found = []
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
        found.append(state.history())
    return found


def replayed_euchre(game: Any, recorded: list[list[int]]) -> int:
    """Replay them by `apply_action`; how many actions there were."""
    for actions in recorded:
        state = game.new_initial_state()
        for action in actions:
            state.apply_action(action)
    return sum(len(actions) for actions in recorded)


def played_euchre(game: Any, chance: random.Random) -> int:
    """Play one game by chance, `legal_actions` before each `apply_action`; how many actions there were."""
    state = game.new_initial_state()
    actions = 0
    while not state.is_terminal():
        state.apply_action(chance.choice(state.legal_actions()))
        actions += 1
    return actions


def holdem() -> Callable[[], Any]:
    """What begins a hand of PokerKit's no-limit hold'em for six, dealt and paid by itself. Raises NotInstalled."""
    try:
        from pokerkit import Automation, NoLimitTexasHoldem
    except ImportError:
        raise NotInstalled("pokerkit") from None
    game = NoLimitTexasHoldem(tuple(Automation), True, 0, (1, 2), 2)
    return lambda: game((STACK,) * PLAYERS, PLAYERS)


def checked_down(begin: Callable[[], Any]) -> int:
    """One hand in which all check or call to the showdown, asked each time whether they may; how many actions."""
    state = begin()
    actions = 0
    while state.status:
        assert state.can_check_or_call()
        state.check_or_call()
        actions += 1
    return actions


def played_holdem(begin: Callable[[], Any], chance: random.Random) -> int:
    """One hand in which all fold, call or raise the least by chance, whatever they may; how many actions."""
    state = begin()
    actions = 0
    while state.status:
        may = [state.check_or_call] if state.can_check_or_call() else []
        if state.can_fold():
            may.append(state.fold)
        if state.can_complete_bet_or_raise_to():
            may.append(state.complete_bet_or_raise_to)
        chance.choice(may)()
        actions += 1
    return actions
