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
from services.play.tables import UNREADABLE
from services.play.types import Caller, Refusal, Request

LOOK_S = 0.5
STEWARD = Caller("steward", "steward")
TABLES = "table-"
Mismatches = Callable[[], Awaitable[Sequence[Parked]]]

log = structlog.get_logger(__name__)


class Alarms:
    """Looks at what the ledger has parked and has each such table halted, and again where it was resumed meanwhile."""

    def __init__(self, play: Play, mismatches: Mismatches) -> None:
        self._play = play
        self._mismatches = mismatches
        self._raised: set[tuple[str, int]] = set()
        self._right: dict[str, int] = {}

    async def run(self) -> None:
        """Look until cancelled; where the books cannot be read, look again later."""
        while True:
            clear_contextvars()  # of the table that the last alarm was about
            try:
                for parked in await self._mismatches():
                    await self._look_at(parked)
            except Fault as fault:
                log.warning("alarms_wait", code=fault.code, detail=fault.detail)
            await asyncio.sleep(LOOK_S)

    async def _look_at(self, parked: Parked) -> None:
        """One table; that it cannot be read keeps no other from being halted."""
        if not parked.stream.startswith(TABLES):
            return
        try:
            await self._raise(parked, parked.stream.removeprefix(TABLES))
        except Fault as fault:
            if fault.code not in UNREADABLE:
                raise
            log.error("table_unreadable", stream=parked.stream, code=fault.code, detail=fault.detail)

    async def _raise(self, parked: Parked, table_id: str) -> None:
        alarm = (parked.stream, parked.seq)
        # The key comes from the alarm, so that it halts the table once, however many stewards see it.
        key = f"halt@{parked.seq}"
        if alarm in self._raised:
            found = await self._play.table(table_id)
            if found is None or found[1].closed or (found[1].halt is not None and found[1].halt.fault):
                return
            version = found[0]
            if self._right.get(table_id) == version:
                return
            # The ledger may be a moment behind a correction, after which the table goes on: the log says what holds.
            if not await self._play.books_differ(table_id):
                self._right[table_id] = version
                return
            key = f"halt@{parked.seq}@{version}"

        def make(at_ms: int, _: Fresh) -> TableCommand:
            return HaltTable(at_ms=at_ms, reason=f"the books differ at event {parked.seq}", fault=True)

        request = Request(STEWARD, key, self._play.digest(table_id, key))
        outcome = await self._play.command(table_id, request, make)
        log.error("books_differ", table=table_id, seq=parked.seq, reason=parked.reason)
        if isinstance(outcome, Refusal) and outcome.refused.code != "table_halted":
            log.error("halt_refused", table=table_id, code=outcome.refused.code)
        self._raised.add(alarm)
