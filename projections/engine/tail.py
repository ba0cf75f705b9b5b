"""One read of the log's end for all who follow it. Source: DESIGN "The event store", promise 3."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from infra.faults import Fault
from projections.engine.log import Batch, Log, Vector

LOOK_MS = 50
"""A nudge may be lost: so long at most until the tail looks by itself."""
PAUSE_MS = 2
BUSY_PAUSE_MS = 6
BUSY = 16
"""So long at least between two reads, the longer one after so many events: a read costs half a millisecond of this
process whatever it finds, which is a tenth of it at 200 reads a second."""
BATCH = 2_000
HELD = 20_000
"""So many events are kept for the group; if it falls behind further it reads for itself until it is back."""
RETRY_S = 0.5

log = structlog.get_logger(__name__)

Listener = Callable[[Batch], None]


class Tail:
    """Reads on from `vector`, hands each batch to the listeners at once, and holds it for the group.

    `base` is where what it holds begins: who is there may take; who is behind reads up to it for himself.
    """

    def __init__(self, log: Log, vector: Vector) -> None:
        self._log = log
        self._listeners: list[Listener] = []
        self._held: list[Batch] = []
        self._count = 0
        self._wake = asyncio.Event()
        self.vector = vector
        self.base = dict(vector)
        self.arrived = asyncio.Event()

    def nudge(self) -> None:
        """Something was appended: look now."""
        self._wake.set()

    def listen(self, listener: Listener) -> None:
        """Have every batch from now on handed to `listener`, which must be quick and must not raise."""
        self._listeners.append(listener)

    def take(self, limit: int) -> Batch | None:
        """What is held, about `limit` events of it, or None; `base` moves on. For who stands at `base`."""
        if not self._held:
            return None
        taken, count = 0, 0
        while taken < len(self._held) and count < limit:
            count += len(self._held[taken].entries)
            taken += 1
        batch = Batch.joined(self._held[:taken])
        del self._held[:taken]
        self._count -= count
        self.base.update(batch.after)
        if not self._held:
            self.arrived.clear()
        return batch

    def let_go(self) -> None:
        """Hold nothing of what was read so far: nobody stands where it begins."""
        self._held.clear()
        self._count = 0
        self.base = dict(self.vector)
        self.arrived.clear()

    async def run(self) -> None:
        """Read for ever; ends by cancellation."""
        while True:
            began = time.monotonic()
            try:
                count = await self._look()
            except Fault as fault:
                log.warning("tail_waits", code=fault.code, detail=fault.detail)
                await asyncio.sleep(RETRY_S)
                continue
            pause_ms = PAUSE_MS if count < BUSY else BUSY_PAUSE_MS if count < BATCH // 2 else 0
            await asyncio.sleep(max(0.0, began + pause_ms / 1000 - time.monotonic()))
            if not count:
                await self._nudged()

    async def _nudged(self) -> None:
        try:
            async with asyncio.timeout(LOOK_MS / 1000):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _look(self) -> int:
        """Read once; how many events there were."""
        batch = await self._log.read(self.vector, BATCH)
        if batch.entries:
            self._hand_on(batch)
        return len(batch.entries)

    def _hand_on(self, batch: Batch) -> None:
        self.vector.update(batch.after)
        if self._count + len(batch.entries) > HELD:
            self.let_go()
        else:
            self._held.append(batch)
            self._count += len(batch.entries)
        self.arrived.set()
        for listener in self._listeners:
            listener(batch)
