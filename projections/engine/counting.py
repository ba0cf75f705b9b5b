"""What a committed batch counts for in the metrics. Source: `infra.metrics`."""

from __future__ import annotations

from infra.metrics import LAWS_BROKEN, LAWS_CHECKED, PARKED, PROJECTED_EVENTS
from infra.projection_store import Work

BOOKS, ENTRIES, BROKEN = "ledger", "entry", "mismatch"


def count(name: str, work: Work) -> None:
    """Count what the projection `name` has committed. Its entries of a hand are there because the laws held there."""
    PROJECTED_EVENTS.labels(name).inc(sum(after - before for before, after in work.moves.values()))
    for parked in work.parked:
        PARKED.labels(name, parked.code).inc()
    if name != BOOKS:
        return
    hands = {row["hand_id"] for write in work.writes if write.table == ENTRIES for row in write.rows}
    broken = sum(parked.code == BROKEN for parked in work.parked)
    LAWS_CHECKED.inc(len(hands - {None}) + broken)
    LAWS_BROKEN.inc(broken)
