"""The books' alarms: a table whose record differs from the ledger's reckoning is halted. Source: DESIGN §6, T12."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from structlog.contextvars import clear_contextvars

from domain.commands import Fresh, HaltTable, TableCommand
from infra.faults import Fault
from infra.projection_store import Parked
from services.play.service import Play
from services.play.types import Caller, Refusal, Request

LOOK_S = 0.5
STEWARD = Caller("steward", "steward")
TABLES = "table-"
Mismatches = Callable[[], Awaitable[Sequence[Parked]]]

log = structlog.get_logger(__name__)


class Alarms:
    """Looks at what the ledger has parked and has each such table halted, once for each alarm."""

    def __init__(self, play: Play, mismatches: Mismatches) -> None:
        self._play = play
        self._mismatches = mismatches
        self._raised: set[tuple[str, int]] = set()

    async def run(self) -> None:
        """Look until cancelled; where the books cannot be read, look again later."""
        while True:
            clear_contextvars()  # of the table that the last alarm was about
            try:
                for parked in await self._mismatches():
                    await self._raise(parked)
            except Fault as fault:
                log.warning("alarms_wait", code=fault.code, detail=fault.detail)
            await asyncio.sleep(LOOK_S)

    async def _raise(self, parked: Parked) -> None:
        alarm = (parked.stream, parked.seq)
        if alarm in self._raised or not parked.stream.startswith(TABLES):
            return
        table_id = parked.stream.removeprefix(TABLES)

        def make(at_ms: int, _: Fresh) -> TableCommand:
            return HaltTable(at_ms=at_ms, reason=f"the books differ at event {parked.seq}", fault=True)

        # The key comes from the alarm, so that it halts the table once, however many stewards see it.
        request = Request(STEWARD, f"halt@{parked.seq}", "halt")
        outcome = await self._play.command(table_id, request, make)
        log.error("books_differ", table=table_id, seq=parked.seq, reason=parked.reason)
        if isinstance(outcome, Refusal) and outcome.refused.code != "table_halted":
            log.error("halt_refused", table=table_id, code=outcome.refused.code)
        self._raised.add(alarm)
