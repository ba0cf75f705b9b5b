"""Who looked at the hidden cards of which hand, when and why."""

from projections.access.projection import ACCESS
from projections.access.reads import Look, looks

__all__ = ["ACCESS", "Look", "looks"]
