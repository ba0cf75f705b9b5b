"""What a player has going on: the tables where he sits, the hands he has played, what they brought him."""

from projections.players.projection import PLAYERS
from projections.players.reads import PlayerResults, PlayerTable, results_of, tables_of

__all__ = ["PLAYERS", "PlayerResults", "PlayerTable", "results_of", "tables_of"]
