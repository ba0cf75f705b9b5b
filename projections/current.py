"""A projection that must not be behind: it is waited for until it has come to where the log was."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import Struct

from infra.faults import Fault
from infra.projection_store import ProjectionReader

PATIENCE_S = 5.0
LOOK_S = 0.02
CURRENT = (Path(__file__).parent / "current.sql").read_text()


class _Part(Struct, frozen=True):
    part: int
    head: int
    pos: int


async def come_up(reader: ProjectionReader, name: str) -> None:
    """Return once the projection holds all that was in the log at the call; it is a moment behind as a rule.

    Raises Fault: `unavailable` where it does not come to it, since nobody keeps it up.
    """
    heads: dict[int, int] | None = None
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_S
    while True:
        parts = await reader.rows(name, CURRENT, {}, _Part)
        heads = {p.part: p.head for p in parts} if heads is None else heads
        if all(p.pos >= heads.get(p.part, 0) for p in parts):
            return
        if loop.time() > until:
            raise Fault("unavailable", f"the projection {name} is behind the log, so nobody knows yet; try again later")
        await asyncio.sleep(LOOK_S)
