"""Clients that follow tables over event streams, drop, and resume at any node from the last number that they saw."""

from __future__ import annotations

import asyncio
import random
import zlib
from array import array
from collections.abc import Sequence
from contextlib import aclosing

from services.bots import Client, Problem
from services.bots.stream import Message, follow
from services.live.feed import RING
from services.live.following import REPLAY

STAYS_S = (0.5, 6.0)
LOOK_S = 0.5


def mark(type_: str) -> int:
    """Four bytes for an event's type."""
    return zlib.crc32(type_.encode())


class Watcher:
    """One such client. `marks` are those of the events from number `first` on; `broken` what it was sent wrongly."""

    def __init__(
        self, nodes: Sequence[str], token: str | None, table_id: str, chance: random.Random, *, delayed: bool = False
    ) -> None:
        """`delayed`: a table that shows itself to spectators later, and at first not at all; they may be set back."""
        self._nodes = nodes
        self._token = token
        self._path = f"/v1/tables/{table_id}/events"
        self._chance = chance
        self._delayed = delayed
        self._reach = RING if token is None else REPLAY
        self.stream = f"table-{table_id}"
        self.first: int | None = None
        self.marks = array("I")
        self.resumed = 0
        self.snapshots = 0
        self.broken: list[str] = []
        self.is_over = False

    @property
    def last(self) -> int | None:
        """The number of the last event that it has."""
        return None if self.first is None else self.first + len(self.marks) - 1

    async def watch(self) -> None:
        """Until the table is closed."""
        while not self.is_over:
            nodes = self._chance.sample(self._nodes, len(self._nodes))
            client = Client(nodes[0], self._token, None, nodes[1:])
            try:
                async with (
                    asyncio.timeout(self._chance.uniform(*STAYS_S)),
                    aclosing(follow(client, self._path, self.last)) as messages,
                ):
                    async for message in messages:
                        if self.take(message):
                            return
            except TimeoutError:
                self.resumed += 1
            except Problem as problem:
                if problem.status != 404 or not self._delayed:
                    raise
                await asyncio.sleep(LOOK_S)

    def take(self, message: Message) -> bool:
        """Take in one message; whether it was the last one."""
        match message.event:
            case "snapshot":
                self._begin(message.number)
            case "event":
                self._event(message)
            case "end":
                self.is_over = message.data.get("reason") == "table_closed"
            case other:
                self.broken.append(f"{self.stream}: a message {other!r}, which no stream of a table has")
        return self.is_over

    def _begin(self, number: int | None) -> None:
        self.snapshots += 1
        last = self.last
        if number is None:
            self.broken.append(f"{self.stream}: a snapshot without a number")
        elif last is None:
            self.first = number + 1
        elif number - last <= self._reach and not (self._delayed and number < last):
            self.broken.append(
                f"{self.stream}: after event {last} a snapshot of {number}, in place of the events between"
            )
        else:
            self.first, self.marks = number + 1, array("I")

    def _event(self, message: Message) -> None:
        last = self.last
        if last is None:
            self.broken.append(f"{self.stream}: event {message.number} before any snapshot")
        elif message.number != last + 1 or message.data["seq"] != message.number:
            self.broken.append(f"{self.stream}: after event {last} came {message.number}")
        else:
            self.marks.append(mark(message.data["type"]))
