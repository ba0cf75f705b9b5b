"""The books: entries and balances by a second reckoning, read as trial balance and statements, and reconciled."""

from projections.ledger.projection import LEDGER, MISMATCH
from projections.ledger.reads import (
    Balance,
    KindTotal,
    Line,
    PostedEntry,
    Statement,
    TrialBalance,
    balances,
    entries_of_hand,
    in_transit,
    mismatches,
    position,
    statement,
    trial_balance,
)
from projections.ledger.reconciling import Difference, Reconciliation, Waiting, reconcile

__all__ = [
    "LEDGER",
    "MISMATCH",
    "Balance",
    "Difference",
    "KindTotal",
    "Line",
    "PostedEntry",
    "Reconciliation",
    "Statement",
    "TrialBalance",
    "Waiting",
    "balances",
    "entries_of_hand",
    "in_transit",
    "mismatches",
    "position",
    "reconcile",
    "statement",
    "trial_balance",
]
