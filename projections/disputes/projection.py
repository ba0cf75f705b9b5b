"""The step of the disputes: the dispute folded by its own rules, and its row. Source: rulebook R."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from domain.disputes import Closed, Dispute, Judged, Open, evolve
from domain.disputes.dispute import due_ms
from domain.events import DISPUTE_EVENTS, DisputeEvent
from projections.engine.types import Change, Projection, Put, Recorded

PREFIX = "dispute-"
State = Dispute | None


def step(state: State, recorded: Recorded) -> tuple[State, list[Change]]:
    """The dispute after the event, and its row."""
    assert isinstance(recorded.event, DisputeEvent)
    after = evolve(state, recorded.event, recorded.at_ms)
    return after, [Put("dispute", _row(recorded.stream.removeprefix(PREFIX), after))]


def _row(dispute_id: str, dispute: Dispute) -> dict[str, Any]:
    phase = dispute.phase
    return {
        "dispute_id": dispute_id,
        "hand_id": dispute.hand_id,
        "table_id": dispute.table_id,
        "currency": dispute.currency,
        "opener": dispute.opener,
        "role": dispute.role,
        "opened_ms": dispute.opened_ms,
        "changed_ms": dispute.at_ms,
        "phase": str(type(phase).__struct_config__.tag),
        "closed": isinstance(phase, Closed),
        "outcome": None if isinstance(phase, Open) else phase.outcome,
        "reviewer": phase.reviewer if isinstance(phase, Judged) else None,
        "due_ms": due_ms(dispute),
        "overdue": phase.overdue if isinstance(phase, Open) else 0,
        "proposals": len(phase.proposals) if isinstance(phase, Judged) else 0,
        "paid": sum(amount for _, amount in dispute.paid),
        "corrected": dispute.corrected,
        "erased": dispute.erased,
    }


DISPUTES: Projection[State] = Projection(
    name="disputes",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=(PREFIX,),
    handles=DISPUTE_EVENTS,
    state=Dispute,
    initial=None,
    step=step,
)
