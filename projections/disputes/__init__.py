"""The disputes: who disputes which hand, how each stands, and until when."""

from projections.disputes.projection import DISPUTES
from projections.disputes.reads import DisputeRow, disputes, due_disputes, is_corrected, keys_left

__all__ = ["DISPUTES", "DisputeRow", "disputes", "due_disputes", "is_corrected", "keys_left"]
