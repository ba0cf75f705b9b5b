"""Reports for operators and compliance, from the ledger and the hands; no projection of their own."""

from projections.reports.reads import (
    CappedFine,
    CarriedBank,
    Commission,
    VoidedHand,
    capped_fines,
    carried_banks,
    commission,
    voided_hands,
)

__all__ = [
    "CappedFine",
    "CarriedBank",
    "Commission",
    "VoidedHand",
    "capped_fines",
    "carried_banks",
    "commission",
    "voided_hands",
]
