"""Signals for reviewers: pairs, dumped tricks, clock, short purses, voids. People decide. See `definitions`."""

from projections.signals.definitions import DEFINITIONS, KINDS, Kind
from projections.signals.projection import SIGNALS
from projections.signals.reads import RestsOn, Signal, signals

__all__ = ["DEFINITIONS", "KINDS", "SIGNALS", "Kind", "RestsOn", "Signal", "signals"]
