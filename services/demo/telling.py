"""The last hand of the demo, taken from the log, replayed, and told card by card."""

from __future__ import annotations

from domain.events import HandStarted
from domain.handfile import from_events, replay
from services.cli.hand import told
from services.play.service import Play
from services.play.types import Step

LOOK_BACK = 200


async def last_hand(play: Play, table_id: str) -> tuple[str, tuple[str, ...]]:
    """The id and the lines, in rich's markup, of the last hand of a table, which is over. Raises Fault."""
    found = await play.table(table_id)
    assert found is not None, table_id
    version, table = found
    assert table.hand is not None, table_id
    after = version
    steps: list[Step] = []
    while not any(isinstance(step.event, HandStarted) for step in steps):
        after = max(0, after - LOOK_BACK)
        steps = await play.steps(table_id, after, version - after)
    begin = max(i for i, step in enumerate(steps) if isinstance(step.event, HandStarted))
    file = from_events(step.event for step in steps[begin:])
    lines = tuple(f"  {head:<9} {text}" for head, text in told(list(replay(file))))
    return table.hand.hand_id, lines
