"""A lane: one connection on which groups of commands are committed, one group after the other. DESIGN, promise 5.

While a commit is under way arriving commands form the next group. A group holds at most one command a stream, so that
`store.append` can judge them all against the same heads; others wait for a later group, in their order.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.pq.abc import PGresult
from psycopg.rows import args_row

from infra.faults import Fault
from infra.store.arrays import int2s, uuids
from infra.store.connect import Unavailable, reason
from infra.store.group import Item, parameters
from infra.store.prepared import PreparedStatement
from infra.store.queries import query
from infra.store.types import Duplicate, StoredEvent, StreamHead, Verdict

APPEND = query("append")
FIND_COMMANDS = query("find_commands")

GROUP_COMMANDS = 256
GROUP_BYTES = 4_000_000
FIRST_RETRY_S = 0.02
LAST_RETRY_S = 0.5
CALL_TIMEOUT_S = 5.0

log = structlog.get_logger(__name__)


class Lane:
    """Commits what is put into it, and settles each item's future: a verdict, or a `Fault` for that item alone."""

    def __init__(self, url: str, parts: int, on_commit: Callable[[Sequence[StreamHead]], None]) -> None:
        self._url = url
        self._all_parts = int2s(range(parts))
        self._on_commit = on_commit
        self._waiting: deque[Item] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self.committing = 0
        self._append: PreparedStatement | None = None
        self._task = asyncio.create_task(self._run(), name="store lane")

    @property
    def waiting(self) -> int:
        """How many commands wait for a group."""
        return len(self._waiting)

    def put(self, item: Item) -> None:
        """Let the item take part in one of the next groups."""
        self._waiting.append(item)
        self._arrived.set()

    async def close(self) -> None:
        """Commit what waits, then let go of the connection."""
        self._closing = True
        self._arrived.set()
        await self._task
        await self._disconnect()

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            group = self._take()
            self.committing = len(group)
            try:
                await self._store(group)
            except Exception as error:
                # A lane that dies leaves its callers waiting for ever.
                log.exception("store_lane_failed")
                for item in group:
                    _fail(item, error)
            self.committing = 0
            # Those who just got their verdicts run now, and their next commands join the next group.
            await asyncio.sleep(0)

    def _take(self) -> list[Item]:
        """The next group, out of those that wait."""
        group: list[Item] = []
        streams: set[str] = set()
        later: list[Item] = []
        size = 0
        while self._waiting and len(group) < GROUP_COMMANDS and size < GROUP_BYTES:
            item = self._waiting.popleft()
            if streams.isdisjoint(item.streams):
                group.append(item)
                size += item.size
            else:
                later.append(item)
            # A command that must wait holds back the later ones of its streams too.
            streams.update(item.streams)
        self._waiting.extendleft(reversed(later))
        return group

    async def _store(self, group: list[Item]) -> None:
        """Commit a group, again and again until it is settled.

        A connection that is lost during the call leaves in doubt whether the group was committed. Sending it again is
        safe: what was committed is then found by its command id, and told from another's by its hashes.
        """
        delay_s = FIRST_RETRY_S
        while group:
            try:
                if self._append is None:
                    self._append = await PreparedStatement.open(self._url, APPEND)
                group = await self._call(self._append, group)
                if group:
                    await self._settle_duplicates(self._append.connection, group)
                    return
            except (*Unavailable, TimeoutError) as error:
                log.warning("store_retry", commands=len(group), error=reason(error))
                await self._disconnect()
                for item in group:
                    item.in_doubt = True
                delay_s = min(delay_s * (1 + random.random()), LAST_RETRY_S)  # noqa: S311 (spreads retries)
                group = _in_time(group, asyncio.get_running_loop().time() + delay_s, error)
                if group:
                    await asyncio.sleep(delay_s)
            except psycopg.Error as error:
                # Rolled back: something in the group is not to the database's taste. Halving finds it.
                if len(group) == 1:
                    _fail(group[0], Fault("store_rejected", reason(error)))
                else:
                    half = len(group) // 2
                    await self._store(group[:half])
                    await self._store(group[half:])
                return

    async def _call(self, append: PreparedStatement, group: list[Item]) -> list[Item]:
        """Append the group in one round trip and settle all but the duplicates, which are returned."""
        result = await append(parameters(group), CALL_TIMEOUT_S)
        judged = dict([_judgement(result, row) for row in range(result.ntuples)])
        heads: list[StreamHead] = []
        duplicates: list[Item] = []
        for number, item in enumerate(group):
            if number not in judged:
                heads += item.appended.heads
                _settle(item, item.appended)
                continue
            verdict, stream, actual = judged[number]
            if verdict == "duplicate":
                duplicates.append(item)
            elif verdict == "conflict":
                _settle(item, item.conflict(stream, actual))
            else:
                _fail(
                    item, Fault("store_broken", f"{stream} {actual} has another hash than its successor was made for")
                )
        if heads:
            self._on_commit(heads)
        return duplicates

    async def _settle_duplicates(self, connection: AsyncConnection[Any], duplicates: list[Item]) -> None:
        """Answer them with what was stored the first time, in whatever parts that is."""
        cursor = connection.cursor(binary=True, row_factory=args_row(StoredEvent))
        await cursor.execute(
            FIND_COMMANDS, (self._all_parts, uuids([item.append.command_id for item in duplicates])), prepare=True
        )
        stored: dict[bytes, list[StoredEvent]] = {}
        for event in await cursor.fetchall():
            stored.setdefault(event.command_id, []).append(event)
        for item in duplicates:
            events = stored[item.append.command_id]
            if item.in_doubt and [event.hash for event in events] == item.hashes:
                # Our own first attempt, whose answer was lost: its events are the very ones that we sent again.
                _settle(item, item.appended)
                self._on_commit(item.appended.heads)
            else:
                _settle(item, Duplicate(tuple(events)))

    async def _disconnect(self) -> None:
        if self._append is not None:
            append, self._append = self._append, None
            await append.close()


def _settle(item: Item, verdict: Verdict) -> None:
    if not item.future.done():
        item.future.set_result(verdict)


def _fail(item: Item, error: Exception) -> None:
    if not item.future.done():
        item.future.set_exception(error)


def _in_time(group: Sequence[Item], now: float, error: BaseException) -> list[Item]:
    """Those of the group that may wait until `now`; the others fail, and whether they are stored is not known."""
    for item in group:
        if item.deadline < now:
            _fail(item, Fault("store_unavailable", f"no answer from the event store in time: {reason(error)}"))
    return [item for item in group if item.deadline >= now]


def _judgement(result: PGresult, row: int) -> tuple[int, tuple[str, str, int]]:
    """A row of `append.sql`: the item's number → verdict, stream, actual."""
    item, verdict, stream, actual = [result.get_value(row, column) or b"" for column in range(4)]
    return int.from_bytes(item), (verdict.decode(), stream.decode(), int.from_bytes(actual))
