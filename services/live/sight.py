"""Who may see a table now, and as of which moment: the one judge of every door. Source: DESIGN "Projections", live.

Who sits there sees it as it is. Everybody else is a spectator: he sees nothing where the table has none, and where it
delays them what was recorded `spectator_delay_ms` ago.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from domain.table import Table, seat_of
from services.play.types import Step

LOOK_BACK = 256
"""How many steps are read at a time on the way back to the moment that a spectator may see."""

TableNow = Callable[[str], Awaitable[tuple[int, Table] | None]]
Steps = Callable[[str, int, int], Awaitable[list[Step]]]


class NoSpectators(Exception):
    """The table takes no spectators, and the caller does not sit there."""


def seated(table: Table, player: str | None) -> bool:
    """Whether `player` sits at the table."""
    return player is not None and seat_of(table, player) is not None


def delay_ms(table: Table, player: str | None) -> int:
    """How long ago something must have been recorded for `player` to see it. Raises NoSpectators."""
    if seated(table, player):
        return 0
    if not table.settings.spectators:
        raise NoSpectators
    return table.settings.spectator_delay_ms


async def seen(now: TableNow, steps: Steps, table_id: str, player: str | None, now_ms: int) -> tuple[int, Table] | None:
    """The version and table that `player` may see at `now_ms`; None where there is none, or none yet for him.

    Raises NoSpectators, and what `now` and `steps` raise (Fault).
    """
    current = await now(table_id)
    if current is None:
        return None
    version, table = current
    delay = delay_ms(table, player)
    if not delay or table.at_ms + delay <= now_ms:
        return current
    return await _as_of(steps, table_id, version, now_ms - delay)


async def _as_of(steps: Steps, table_id: str, version: int, at_ms: int) -> tuple[int, Table] | None:
    """The version and table after the last step recorded at `at_ms` or before."""
    after = version
    while after > 0:
        after = max(0, after - LOOK_BACK)
        for step in reversed(await steps(table_id, after, LOOK_BACK)):
            if step.at_ms <= at_ms:
                return step.seq, step.after
    return None
