"""Who may see a table now, and as of which moment: the one judge of every door. Source: DESIGN "Projections", live.

Who sits there sees it as it is. Everybody else is a spectator: he sees nothing where the table has none, and where it
delays them what was recorded `spectator_delay_ms` ago.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from domain.table import Table, seat_of
from infra.faults import Fault
from services.live.past import Past, page_of
from services.play.types import Step

VIEWS = 256

TableNow = Callable[[str], Awaitable[tuple[int, Table] | None]]


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


class Sight:
    """What may be seen of each table. Where it is delayed, one look into its past serves all its spectators."""

    def __init__(self, now: TableNow, past: Past) -> None:
        self._now = now
        self._past = past
        self._views: OrderedDict[str, _View] = OrderedDict()

    async def seen(self, table_id: str, player: str | None, now_ms: int) -> tuple[int, Table] | None:
        """The version and table that `player` may see at `now_ms`; None where there is none, or none yet for him.

        Raises NoSpectators and Fault.
        """
        current = await self._now(table_id)
        if current is None:
            return None
        version, table = current
        delay = delay_ms(table, player)
        if not delay or table.at_ms + delay <= now_ms:
            return current
        return await self._as_of(table_id, version, now_ms - delay)

    async def _as_of(self, table_id: str, version: int, at_ms: int) -> tuple[int, Table] | None:
        """The version and table after the last step recorded at `at_ms` or before; step `version` was later."""
        view = self._views.setdefault(table_id, _View())
        self._views.move_to_end(table_id)
        if len(self._views) > VIEWS:
            self._views.popitem(last=False)
        steps = view.steps
        if not _spans(steps, at_ms):
            async with view.moving:
                steps = view.steps
                if not _spans(steps, at_ms):
                    steps = view.steps = await self._around(table_id, version, at_ms, steps)
        count = bisect_right(steps, at_ms, key=_recorded_ms)
        return (steps[count - 1].seq, steps[count - 1].after) if count else None

    async def _around(self, table_id: str, version: int, at_ms: int, before: list[Step]) -> list[Step]:
        """The page on which the last step stands that was recorded at `at_ms` or before, and the first step after it.

        It is sought from where it was `before`, in strides that double and then halve: time goes on by little.
        """
        page, last = 0, page_of(version)
        if before and before[0].at_ms <= at_ms:
            page = page_of(before[0].seq)
        stride, halves = 1, False
        while stride:
            ahead = page + stride
            if ahead <= last and await self._begins_by(table_id, ahead, version, at_ms):
                page = ahead
            else:
                halves = True
            stride = stride // 2 if halves else stride * 2
        steps = await self._opened(table_id, page, version)
        return steps if page == last else [*steps, *(await self._opened(table_id, page + 1, version))[:1]]

    async def _begins_by(self, table_id: str, page: int, version: int, at_ms: int) -> bool:
        """Whether the page's first step was recorded at `at_ms` or before. S7: one that does not open is an old one."""
        steps = await self._opened(table_id, page, version)
        return not steps or steps[0].at_ms <= at_ms

    async def _opened(self, table_id: str, page: int, version: int) -> list[Step]:
        """The page's steps; S7: none where their key is lost: what was before that nobody sees any more."""
        try:
            return await self._past.page(table_id, page, version)
        except Fault as fault:
            if fault.code != "seal_broken":
                raise
            return []


class _View:
    """Steps around the moment that spectators see, and who moves them on."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.moving = asyncio.Lock()


def _spans(steps: list[Step], at_ms: int) -> bool:
    """Whether the last step recorded at `at_ms` or before is found among these, or is known not to be there."""
    return bool(steps) and (steps[0].at_ms <= at_ms or steps[0].seq == 1) and at_ms < steps[-1].at_ms


def _recorded_ms(step: Step) -> int:
    return step.at_ms
