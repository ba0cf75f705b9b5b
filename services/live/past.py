"""What was recorded at tables before the last steps that feeds hold: read in whole pages, each once for all who ask."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from infra.faults import Fault
from services.play.types import Step

PAGE = 128
"""How many steps a page has: page 0 is steps 1 to 128."""
PAGES = 256
READERS = 2
"""How many reads go on at a time: half of the connections by which a process reads the log."""

Steps = Callable[[str, int, int], Awaitable[list[Step]]]
"""(table_id, after, limit) → at most `limit` recorded steps after number `after`."""


class Past:
    """Pages of recorded steps, which never change; those longest unused go first."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._pages: OrderedDict[tuple[str, int], _Page] = OrderedDict()
        self._room = asyncio.Semaphore(READERS)

    async def after(self, table_id: str, after: int, upto: int) -> list[Step]:
        """The steps after number `after` up to `upto`, which is not past the table's last, none left out.

        Raises Fault, `seal_broken` where the key of some is lost (S7).
        """
        found: list[Step] = []
        for number in range(page_of(after + 1), page_of(upto) + 1):
            found += [s for s in await self.page(table_id, number, upto) if after < s.seq <= upto]
        if found and found[0].seq != after + 1:
            raise Fault("seal_broken", f"events {after + 1} to {found[0].seq - 1} of table {table_id} do not open")
        return found

    async def page(self, table_id: str, number: int, upto: int) -> list[Step]:
        """Page `number` of a table, whole or at least to step `upto`; S7: without those at its beginning whose key is
        lost. Raises Fault."""
        page = self._pages.setdefault((table_id, number), _Page())
        self._pages.move_to_end((table_id, number))
        if len(self._pages) > PAGES:
            self._pages.popitem(last=False)
        wanted = min(upto, (number + 1) * PAGE)
        if not page.reaches(wanted):
            async with page.reading:
                if not page.reaches(wanted):
                    async with self._room:
                        page.steps = await self._steps(table_id, number * PAGE, PAGE)
        return page.steps


class _Page:
    """Steps that follow on each other, and who reads them."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.reading = asyncio.Lock()

    def reaches(self, seq: int) -> bool:
        """Whether step `seq` is among them, where it is on this page."""
        return bool(self.steps) and self.steps[-1].seq >= seq


def page_of(seq: int) -> int:
    """The page on which step `seq` stands."""
    return (seq - 1) // PAGE
