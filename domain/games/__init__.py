"""The games by (name, rules version); an old version stays, so that a hand replays under its own rules."""

from __future__ import annotations

from domain.games.frap import Frap
from domain.games.game import Game
from domain.games.khrap import Khrap
from domain.games.khrap5 import Khrap5
from domain.options import Options

GAMES: dict[tuple[str, int], Game] = {(game.name, game.rules): game for game in (Khrap(), Frap(), Khrap5())}

_BY_OPTIONS: dict[tuple[type, int], Game] = {(game.options, game.rules): game for game in GAMES.values()}


def game_of(options: Options, rules: int) -> Game:
    """The rules by which a hand with these options is played. Raises KeyError for an unknown version."""
    return _BY_OPTIONS[type(options), rules]


def newest(name: str) -> Game:
    """The newest rules of a game. Raises KeyError for an unknown name."""
    return GAMES[max(key for key in GAMES if key[0] == name)]
