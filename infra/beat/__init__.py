"""The steward's sign of life, so that a stop of the clock is noticed by the one who comes after. Source: rulebook T11."""

from infra.beat.beat import FOLDER, Beat

__all__ = ["FOLDER", "Beat"]
