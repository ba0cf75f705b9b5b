"""The clock of disputes: what is overdue is ended, or said to be. Source: rulebook R3."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from domain.disputes.commands import Expire
from domain.disputes.dispute import due_ms
from infra.clock import Clock
from infra.faults import Fault
from services.disputes.service import Disputes
from services.play.tables import UNREADABLE
from services.play.types import Caller, Refusal, Request

LOOK_S = 10.0
"""Deadlines are days away: a few seconds more are nothing."""
CLOCK = Caller("steward", "clock")
Due = Callable[[int], Awaitable[list[str]]]
"""A moment → the disputes whose deadline has passed."""

log = structlog.get_logger(__name__)


class Deadlines:
    """Looks at which disputes are due and has the clock act on each, once for each deadline."""

    def __init__(self, disputes: Disputes, due: Due, clock: Clock, look_s: float = LOOK_S) -> None:
        self._disputes = disputes
        self._due = due
        self._clock = clock
        self._look_s = look_s

    async def run(self) -> None:
        """Look until cancelled; where nothing can be read or written, look again later."""
        while True:
            await asyncio.sleep(self._look_s)
            try:
                for dispute_id in await self._due(self._clock.now_ms()):
                    await self._look_at(dispute_id)
                for dispute_id in await self._disputes.destroy_keys():
                    log.warning("key_destroyed_late", dispute=dispute_id)
            except Fault as fault:
                log.warning("deadlines_wait", code=fault.code, detail=fault.detail)

    async def _look_at(self, dispute_id: str) -> None:
        """One dispute; that it cannot be read stops no other's clock."""
        try:
            await self._expire(dispute_id)
        except Fault as fault:
            if fault.code not in UNREADABLE:
                raise
            log.error("dispute_unreadable", dispute=dispute_id, code=fault.code, detail=fault.detail)
        except Exception as error:  # noqa: BLE001 (see below)
            # An unknown event, one that does not decode, a mistake of ours: its kind alone says no text.
            log.error("dispute_unreadable", dispute=dispute_id, code=type(error).__name__)

    async def _expire(self, dispute_id: str) -> None:
        dispute = await self._disputes.dispute(dispute_id)
        due = None if dispute is None else due_ms(dispute)
        if due is None:
            return
        # The key comes from the deadline, so that it is passed once, however many stewards see it.
        request = Request(CLOCK, f"expire@{due}", "expire")
        outcome = await self._disputes.command(dispute_id, request, lambda at_ms, _, __: Expire(at_ms=at_ms))
        if isinstance(outcome, Refusal):
            log.info("deadline_refused", dispute=dispute_id, code=outcome.refused.code)
        else:
            log.info("deadline_passed", dispute=dispute_id)
