"""The tables that one can join: what they play, who sits there, whether a hand runs. Source: DESIGN "Projections"."""

from projections.lobby.projection import LOBBY, LobbySeat, LobbyTable
from projections.lobby.reads import (
    Census,
    HaltedTable,
    census,
    changed_tables,
    halted_tables,
    lobby_table,
    open_tables,
    tables_vector,
)

__all__ = [
    "LOBBY",
    "Census",
    "HaltedTable",
    "LobbySeat",
    "LobbyTable",
    "census",
    "changed_tables",
    "halted_tables",
    "lobby_table",
    "open_tables",
    "tables_vector",
]
