"""A lane: a connection on which groups of commands are committed, one group after the other. DESIGN, promise 5."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.pq.abc import PGresult
from psycopg.rows import args_row

from infra.faults import Fault
from infra.metrics import APPENDED_EVENTS, COMMIT_SECONDS, GROUP_COMMANDS
from infra.store.arrays import int2s, uuids
from infra.store.connect import Unavailable, reason
from infra.store.group import Item, parameters
from infra.store.prepared import PreparedStatement
from infra.store.queries import query
from infra.store.queue import Queue
from infra.store.types import Duplicate, StoredEvent, StreamHead, Verdict
from infra.tracing import span

APPEND = query("append")
FIND_COMMANDS = query("find_commands")

FIRST_RETRY_S = 0.02
LAST_RETRY_S = 0.5
CALL_TIMEOUT_S = 5.0

log = structlog.get_logger(__name__)


class Lane:
    """Commits the queue's groups, and settles each item's future: a verdict, or a `Fault` for that item alone."""

    def __init__(self, url: str, parts: int, queue: Queue, on_commit: Callable[[Sequence[StreamHead]], None]) -> None:
        self._url = url
        self._all_parts = int2s(range(parts))
        self._queue = queue
        self._on_commit = on_commit
        self._append: PreparedStatement | None = None
        self._task = asyncio.create_task(self._run(), name="store lane")

    async def ended(self) -> None:
        """Wait until the queue is closed and empty and the last group settled."""
        await self._task

    async def _run(self) -> None:
        while group := await self._queue.take():
            try:
                await self._store(group)
            except Exception as error:
                # A lane that dies leaves its callers waiting for ever.
                log.exception("store_lane_failed")
                for item in group:
                    _fail(item, error)
            self._queue.done(group)
            # Those who just got their verdicts run now, and their next commands join the next group.
            await asyncio.sleep(0)
        await self._disconnect()

    async def _store(self, group: list[Item]) -> None:
        """Commit a group, again and again until it is settled.

        A connection that is lost during the call leaves in doubt whether the group was committed. Sending it again is
        safe: what was committed is then found by its command id, and told from another's by its hashes.
        """
        work, blocked = [list(group)], list[Item]()
        delay_s = FIRST_RETRY_S
        while work:
            group = work.pop()
            try:
                await self._commit(group)
            except psycopg.errors.LockNotAvailable as error:
                # Somebody holds one of the parts for unusually long. Halving finds it; the others need not wait for it.
                if len(group) > 1:
                    work += _halves(group)
                else:
                    blocked += self._in_time(group, delay_s, error)
            except (*Unavailable, TimeoutError) as error:
                log.warning("store_retry", commands=len(group), error=reason(error))
                await self._disconnect()
                for item in group:
                    item.in_doubt = True
                work.append(self._in_time(group, delay_s, error))
                delay_s = await _wait(delay_s)
            except psycopg.Error as error:
                # Rolled back: something in the group is not to the database's taste. Halving finds it too.
                if len(group) > 1:
                    work += _halves(group)
                else:
                    _fail(group[0], Fault("store_rejected", reason(error)))
            if not work and blocked:
                work, blocked = [blocked], []
                delay_s = await _wait(delay_s)

    async def _commit(self, group: list[Item]) -> None:
        """Append the group and settle it. What is settled is taken out of the list before anything else can fail."""
        if not group:
            return
        if self._append is None:
            self._append = await PreparedStatement.open(self._url, APPEND)
        group[:] = await self._call(self._append, group)
        if group:
            await self._settle_duplicates(self._append.connection, group)

    async def _call(self, append: PreparedStatement, group: list[Item]) -> list[Item]:
        """Append the group in one round trip and settle all but the duplicates, which are returned."""
        began = monotonic()
        with span("commit", [item.link for item in group], commands=len(group)):
            result = await append(parameters(group), CALL_TIMEOUT_S)
        COMMIT_SECONDS.observe(monotonic() - began)
        GROUP_COMMANDS.observe(len(group))
        judged = dict([_judgement(result, row) for row in range(result.ntuples)])
        heads: list[StreamHead] = []
        events = 0
        stored: list[Item] = []
        duplicates: list[Item] = []
        for number, item in enumerate(group):
            if number not in judged:
                heads += item.appended.heads
                events += len(item.event_rows)
                stored.append(item)
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
        if stored:
            APPENDED_EVENTS.inc(events)
            self._on_commit(heads)
            # Who follows what was stored is woken before those who wait for their verdicts: their answers take longer.
            for item in stored:
                _tell(item)
            for item in stored:
                _settle(item, item.appended)
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
                APPENDED_EVENTS.inc(len(item.event_rows))
                self._on_commit(item.appended.heads)
                _tell(item)
                _settle(item, item.appended)
            else:
                _settle(item, Duplicate(tuple(events)))

    def _in_time(self, group: Sequence[Item], delay_s: float, error: BaseException) -> list[Item]:
        """Those that may wait for another attempt; the others fail, and whether they are stored is not known."""
        then = asyncio.get_running_loop().time() + delay_s
        for item in group:
            if item.deadline < then:
                _fail(item, Fault("store_unavailable", f"no answer from the event store in time: {reason(error)}"))
        return [item for item in group if item.deadline >= then]

    async def _disconnect(self) -> None:
        if self._append is not None:
            append, self._append = self._append, None
            await append.close()


def _tell(item: Item) -> None:
    """That it is stored, even where nobody waits for the verdict any more."""
    if item.then is None:
        return
    try:
        item.then(item.appended)
    except Exception as error:  # noqa: BLE001 (who listens must not fail the group)
        log.error("store_then_failed", error=type(error).__name__)


def _settle(item: Item, verdict: Verdict) -> None:
    if not item.future.done():
        item.future.set_result(verdict)


def _fail(item: Item, error: Exception) -> None:
    if not item.future.done():
        item.future.set_exception(error)


def _halves(group: list[Item]) -> list[list[Item]]:
    middle = len(group) // 2
    return [group[middle:], group[:middle]]


async def _wait(delay_s: float) -> float:
    """Wait about so long; the next wait is longer. Chance spreads the retries of many processes."""
    await asyncio.sleep(delay_s)
    return min(delay_s * (1 + random.random()), LAST_RETRY_S)  # noqa: S311


def _judgement(result: PGresult, row: int) -> tuple[int, tuple[str, str, int]]:
    """A row of `append.sql`: the item's number → verdict, stream, actual."""
    item, verdict, stream, actual = [result.get_value(row, column) or b"" for column in range(4)]
    return int.from_bytes(item), (verdict.decode(), stream.decode(), int.from_bytes(actual))
