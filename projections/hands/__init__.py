"""The hands that were played: who was dealt in, how it ended, which events of the table hold it. Public data alone."""

from projections.hands.projection import HANDS
from projections.hands.reads import HandPlayer, HandRow, hand, hands_by_id

__all__ = ["HANDS", "HandPlayer", "HandRow", "hand", "hands_by_id"]
