"""Who goes into the next group. DESIGN "The event store", promise 5.

Commands that arrive while commits are under way wait here and go together. A group holds at most one command a stream,
so that all can be judged against the same heads, and no part that another lane's group has: lanes never wait for each
other's locks. Nobody is overtaken in a part of his.
"""

from __future__ import annotations

import asyncio
from collections import deque

from infra.store.group import Item

GROUP_COMMANDS = 256
GROUP_BYTES = 4_000_000
PARALLEL_FROM = 32
"""So many commands are worth a commit beside one that is under way: a call costs Postgres some 300 µs whatever is in
it, and an event 25 µs more."""


class Queue:
    """Commands that wait, for `lanes` takers."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._busy = 0
        self._waiting: deque[Item] = deque()
        self._parts_under_way: set[int] = set()
        self._changed = asyncio.Event()
        self._closed = False
        self.committing = 0

    @property
    def waiting(self) -> int:
        """How many commands wait for a group."""
        return len(self._waiting)

    def put(self, item: Item) -> None:
        """Let the item take part in one of the next groups."""
        self._waiting.append(item)
        if self._busy == 0 or len(self._waiting) >= PARALLEL_FROM:
            self._changed.set()

    def close(self) -> None:
        """Nothing more will come: takers end when nothing waits."""
        self._closed = True
        self._changed.set()

    async def take(self) -> list[Item]:
        """The next group, as soon as there is one; nothing when the queue is closed and empty. Then `done` is due."""
        while True:
            group = self._group()
            if group:
                self._busy += 1
                self.committing += len(group)
                self._parts_under_way.update(*[item.parts for item in group])
                return group
            if self._closed and not self._waiting:
                return []
            self._changed.clear()
            await self._changed.wait()

    def done(self, group: list[Item]) -> None:
        """The group's commands are settled, and its parts are free."""
        self._busy -= 1
        self.committing -= len(group)
        self._parts_under_way.difference_update(*[item.parts for item in group])
        self._changed.set()

    def _group(self) -> list[Item]:
        """Out of those that wait; nothing if there are too few for a commit beside those under way."""
        if self._busy and len(self._waiting) < PARALLEL_FROM:
            return []
        group: list[Item] = []
        later: list[Item] = []
        streams: set[str] = set()
        held = set(self._parts_under_way)
        most, size = self._most(), 0
        while self._waiting and len(group) < most and size < GROUP_BYTES:
            item = self._waiting.popleft()
            if held.isdisjoint(item.parts) and streams.isdisjoint(item.streams):
                group.append(item)
                streams.update(item.streams)
                size += item.size
            else:
                # Later ones wait too where it waits, or a command over many parts would wait for ever.
                later.append(item)
                held.update(item.parts)
        self._waiting.extendleft(reversed(later))
        return group

    def _most(self) -> int:
        """How many commands this group may have: what waits is shared with the lanes that are idle, if it is enough."""
        idle = self._lanes - self._busy
        if len(self._waiting) < 2 * PARALLEL_FROM:
            return GROUP_COMMANDS
        return min(GROUP_COMMANDS, -(-len(self._waiting) // idle))
