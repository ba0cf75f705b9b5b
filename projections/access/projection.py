"""The step of the looks: each event a row. Source: DESIGN "Audit", rulebook R7."""

from __future__ import annotations

from pathlib import Path

from domain.events import HandExamined
from projections.engine.types import Change, Insert, Projection, Recorded


def step(state: None, recorded: Recorded) -> tuple[None, list[Change]]:
    """The row of a look."""
    event = recorded.event
    assert isinstance(event, HandExamined)
    row = {
        "seq": recorded.seq,
        "at_ms": recorded.at_ms,
        "person": event.person,
        "hand_id": event.hand_id,
        "table_id": event.table_id,
        "what": event.what,
        "reason": event.reason,
    }
    return None, [Insert("look", row)]


ACCESS: Projection[None] = Projection(
    name="access",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("audit-access",),
    handles=(HandExamined,),
    state=None,
    initial=None,
    step=step,
)
