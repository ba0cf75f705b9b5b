"""The steward's sign of life: whoever comes after it knows how long the clock was away. Source: rulebook T11."""

from infra.beat.beat import FOLDER, Beat

__all__ = ["FOLDER", "Beat"]
