"""Every projection that this code has, with the tables that it makes."""

from typing import Any

from infra.faults import Fault
from projections.access import ACCESS
from projections.disputes import DISPUTES
from projections.engine.types import Projection
from projections.hands import HANDS
from projections.ledger import LEDGER
from projections.lobby import LOBBY
from projections.players import PLAYERS
from projections.search import SEARCH
from projections.signals import SIGNALS

PROJECTIONS: tuple[Projection[Any], ...] = (LOBBY, HANDS, PLAYERS, LEDGER, DISPUTES, ACCESS, SEARCH, SIGNALS)
"""A new version of one stands beside the old one here until that is dropped everywhere."""

VERSIONS = {each.name: frozenset(p.version for p in PROJECTIONS if p.name == each.name) for each in PROJECTIONS}
"""Name → the versions whose rows this code can read: for `ProjectionReader`."""


def newest(name: str) -> Projection[Any]:
    """The newest version of a projection. Raises Fault(`no_projection`)."""
    found = [each for each in PROJECTIONS if each.name == name]
    if not found:
        raise Fault("no_projection", f"there is no projection {name!r}; there are {', '.join(sorted(VERSIONS))}")
    return max(found, key=lambda each: each.version)


def of_version(name: str, version: int) -> Projection[Any]:
    """A version of a projection. Raises Fault(`no_projection`) where this code does not have it."""
    newest(name)
    found = next((each for each in PROJECTIONS if (each.name, each.version) == (name, version)), None)
    if found is None:
        raise Fault("no_projection", f"this program does not have version {version} of {name}, which serves")
    return found
