"""What must hold all the time: looked at again and again while things break."""

from __future__ import annotations

import asyncio

from infra.faults import Fault
from infra.projection_store import ProjectionReader
from projections import ledger
from services.chaos.log import LogWatch

LOOK_S = 0.5
PASSING = frozenset({"store_unavailable", "projection_missing"})


class Checks:
    """The log, the books and the projections' standing. `broken` says what was found, `books` counts the looks."""

    def __init__(self, log: LogWatch, reader: ProjectionReader, stalled_s: float) -> None:
        """No table may stand still for `stalled_s`."""
        self._log = log
        self._reader = reader
        self._stalled_s = stalled_s
        self.books = 0
        self.broken: list[str] = []

    async def run(self) -> None:
        """Look until something is found, or until cancelled."""
        while not self.found:
            await asyncio.sleep(LOOK_S)
            try:
                await self._log.look()
                await self._look_at_books()
            except Fault as fault:
                if fault.code not in PASSING:
                    self.broken.append(f"{fault.code}: {fault.detail}")
            late = self._log.stalled(self._stalled_s)
            self.broken += [f"{stream} has not moved for {self._stalled_s:.0f} s" for stream in late]

    @property
    def found(self) -> list[str]:
        """All that was found."""
        return self._log.broken + self.broken

    async def _look_at_books(self) -> None:
        trial = await ledger.trial_balance(self._reader)
        if not trial.zero:
            self.broken.append(f"the books do not sum to zero: {trial.sums()}")
        for standing in await self._reader.standings():
            if standing.position > standing.head:
                self.broken.append(f"{standing.schema} is ahead of the log: {standing.position} of {standing.head}")
            for each in standing.parked:
                self.broken.append(
                    f"{standing.schema}: {each.stream} is parked at {each.seq}: {each.code}: {each.reason}"
                )
        for stopped in await self._reader.stopped():
            self.broken.append(f"part {stopped.part} is not read after {stopped.pos}: {stopped.reason}")
        self.books += 1
