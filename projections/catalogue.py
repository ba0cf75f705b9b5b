"""Every projection that this code has, with the tables that it makes."""

from typing import Any

from projections.access import ACCESS
from projections.disputes import DISPUTES
from projections.engine.types import Projection
from projections.hands import HANDS
from projections.ledger import LEDGER
from projections.lobby import LOBBY
from projections.players import PLAYERS

PROJECTIONS: tuple[Projection[Any], ...] = (LOBBY, HANDS, PLAYERS, LEDGER, DISPUTES, ACCESS)
