"""The keys of disputes: one each, random, kept wrapped in a table of its own, and destroyed on demand. Source: R6."""

from infra.dispute_keys.keys import FOLDER, DisputeKey, DisputeKeys

__all__ = ["FOLDER", "DisputeKey", "DisputeKeys"]
