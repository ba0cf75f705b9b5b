"""What a process says over Redis of its own appends: that there is something, and of which tables.

Who follows one of these tables on another node reads on at once, and does not wait until the projector has passed. The
projector, where it runs elsewhere, looks at once; without a word it does so every 50 ms. Any word may be lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from infra.redis import NUDGE, Publisher, table_channel
from infra.store import StreamHead
from projections.live import TABLE, stands_at

NUDGE_MS = 5
"""So long at least between two words: each wakes the projector, Redis and whoever follows."""


class Nudges:
    """Speaks of the first append at once, and of what comes within `NUDGE_MS` of it together."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._pause: asyncio.TimerHandle | None = None
        self._unsaid = False
        self._tables: dict[str, int] = {}

    def appended(self, heads: Sequence[StreamHead]) -> None:
        """These streams have grown to these numbers."""
        for head in heads:
            if head.stream.startswith(TABLE):
                self._tables[head.stream.removeprefix(TABLE)] = head.seq
        self._unsaid = True
        if self._pause is None:
            self._say()

    def _say(self) -> None:
        self._pause = None
        if not self._unsaid:
            return
        for table_id, seq in self._tables.items():
            self._publisher.publish(table_channel(table_id), stands_at(table_id, seq))
        self._publisher.publish(NUDGE, b"")
        self._tables.clear()
        self._unsaid = False
        self._pause = asyncio.get_running_loop().call_later(NUDGE_MS / 1000, self._say)
