"""One table as this node follows it for its clients: the last steps, in order of their numbers, and no other order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from domain.table import Table
from services.live.messages import step_message
from services.play.types import Step

RING = 512


class Feed:
    """The steps of one table up to `head`. Clients wait for `moved` and read on from where they are."""

    def __init__(self, table_id: str, head: int, table: Table) -> None:
        self.table_id = table_id
        self.head = head
        self.table = table
        self.clients = 0
        self.behind = False
        self.moved = asyncio.Event()
        self._ring: deque[Step] = deque(maxlen=RING)
        self._public: dict[int, bytes] = {}

    def advance(self, steps: Sequence[Step]) -> bool:
        """Take in steps that follow on `head`; older ones are passed over. False where some are missing in between."""
        for step in steps:
            if step.seq <= self.head:
                continue
            if step.seq != self.head + 1:
                self.behind = True
                return False
            self._ring.append(step)
            self.head, self.table = step.seq, step.after
        self.wake()
        return True

    def wake(self) -> None:
        """Let all waiting clients look again. Who waits holds the event that was there when he looked."""
        self.moved.set()
        self.moved = asyncio.Event()

    def public(self, step: Step) -> bytes:
        """What every spectator gets of `step`, written once for all of them."""
        found = self._public.get(step.seq)
        if found is None:
            found = self._public[step.seq] = step_message(step, None)
            if len(self._public) > RING:
                del self._public[next(iter(self._public))]
        return found

    def after(self, seq: int, limit: int) -> list[Step] | None:
        """At most `limit` steps after number `seq`; None where the ring does not reach so far back."""
        if seq >= self.head:
            return []
        if not self._ring or self._ring[0].seq > seq + 1:
            return None
        start = seq + 1 - self._ring[0].seq
        return [self._ring[i] for i in range(start, min(start + limit, len(self._ring)))]
