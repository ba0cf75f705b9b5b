"""Which hands a reviewer or a player looks for: by who was dealt in, table, time, bank, and what was uncommon."""

from projections.search.projection import FLAGS, SEARCH, Flag
from projections.search.reads import Wanted, search

__all__ = ["FLAGS", "SEARCH", "Flag", "Wanted", "search"]
