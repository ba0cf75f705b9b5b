"""The event store: append, read, verify. DESIGN "The event store"; the promises are proven in `tests/infra/store`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Self

import psycopg
import structlog

from infra.faults import Fault
from infra.metrics import APPEND_SECONDS, APPENDS
from infra.store import connect
from infra.store.chain import part_of
from infra.store.group import Item
from infra.store.lane import Lane
from infra.store.queries import query
from infra.store.queue import Queue
from infra.store.reader import Reader
from infra.store.types import Append, Appended, Conflict, Duplicate, StoredEvent, StreamHead, Verdict
from infra.store.verify import Walked, walk
from infra.store.walk import Broken
from infra.tracing import span

LAYOUT = query("layout")

LANES = 2
READERS = 4
ANSWER_WITHIN_S = 5.0
MOST_WAITING = 10_000

OnAppend = Callable[[Sequence[StreamHead]], None]
log = structlog.get_logger(__name__)

_COUNTERS = {each: APPENDS.labels(each.__name__.lower()) for each in (Appended, Duplicate, Conflict)}


class EventStore:
    """The log of one database. Any number of processes may have one open; the store's verdicts keep them right.

    All methods raise `Fault("store_unavailable")` when Postgres does not answer in time.
    """

    def __init__(self, url: str, parts: int, lanes: int, readers: int) -> None:
        """For `open`, which knows the number of parts."""
        self.parts = parts
        self._url = url
        self._callbacks: list[OnAppend] = []
        self._queue = Queue(lanes)
        self._lanes = [Lane(url, parts, self._queue, self._tell) for _ in range(lanes)]
        self._reader = Reader(url, parts, readers)

    @classmethod
    async def open(cls, url: str, *, lanes: int = LANES, readers: int = READERS) -> Self:
        """Connect to a migrated database as the application's role, whoever `url` logs in as.

        Raises `Fault`: `store_unavailable`, or `store_not_migrated`.
        """
        return cls(url, await _read_layout(url), lanes, readers)

    async def close(self) -> None:
        """Commit what waits, then disconnect."""
        self._queue.close()
        await asyncio.gather(*[lane.ended() for lane in self._lanes])
        await self._reader.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def part_of(self, stream: str) -> int:
        """The part that the stream lives in."""
        return part_of(stream, self.parts)

    @property
    def waiting(self) -> int:
        """How many commands wait for a group, for the metrics."""
        return self._queue.waiting

    @property
    def committing(self) -> int:
        """How many commands' commits are under way, for the metrics."""
        return self._queue.committing

    def on_append(self, callback: OnAppend) -> None:
        """Have `callback` told the new heads after each commit of this process. It must not block."""
        self._callbacks.append(callback)

    async def append(self, append: Append, then: Callable[[Appended], None] | None = None) -> Verdict:
        """Store a command's events, all or none; they are on the disk when `Appended` is returned.

        `then` is called as soon as they are known to be stored, also where who asked has gone away; it must not block.

        Raises `Fault`: `store_unavailable` (it may or may not be stored; the same append can be sent again),
        `store_rejected` or `store_broken` (it is not).
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        item = Item(append, self.parts, loop.create_future(), began + ANSWER_WITHIN_S, then)
        with span("append", command=append.command_id.hex(), events=len(item.event_rows)) as opened:
            item.link = opened.link
            try:
                if self._queue.waiting >= MOST_WAITING:
                    raise Fault("store_unavailable", f"{self._queue.waiting} commands wait for the event store already")
                self._queue.put(item)
                verdict = await item.future
            except Fault as fault:
                APPENDS.labels(fault.code).inc()
                opened.set(verdict=fault.code)
                raise
            opened.set(verdict=type(verdict).__name__.lower())
        _COUNTERS[type(verdict)].inc()
        APPEND_SECONDS.observe(loop.time() - began)
        return verdict

    async def find_command(self, command_id: bytes, streams: Iterable[str]) -> tuple[StoredEvent, ...]:
        """The command's events in the parts of these streams, in order of `idx`; none if it was not stored there."""
        return await self._reader.find_command(command_id, streams)

    async def head(self, stream: str) -> StreamHead | None:
        """The stream's last number and hash; None if it has no events."""
        return await self._reader.head(stream)

    async def heads(self, streams: Iterable[str]) -> dict[str, StreamHead]:
        """The heads of those of the streams that have events."""
        return await self._reader.heads(streams)

    async def read_stream(self, stream: str, after: int = 0, limit: int | None = None) -> list[StoredEvent]:
        """The stream's events after number `after`, in order, at most `limit`."""
        return await self._reader.read_stream(stream, after, limit)

    async def newer(self, stream: str, after: int) -> list[StoredEvent]:
        """As `read_stream`, for what has probably few or none: those who ask at the same time share a round trip."""
        return await self._reader.newer(stream, after)

    async def read_since_last(self, stream: str, types: Sequence[str]) -> list[StoredEvent]:
        """The stream's events from the last one of these types on, that one included; all if there is none."""
        return await self._reader.read_since_last(stream, types)

    async def read_last(self, stream: str) -> StoredEvent | None:
        """The stream's last event, or None."""
        return await self._reader.read_last(stream)

    async def last_of(self, stream: str, types: Sequence[str], at_most: int) -> int | None:
        """The number of the last event of one of these types, not after number `at_most`; None if there is none."""
        return await self._reader.last_of(stream, types, at_most)

    async def streams_not_ended(self, prefix: str, ended: str) -> list[str]:
        """The streams whose name begins with `prefix` and whose last event is not of type `ended`."""
        return await self._reader.streams_not_ended(prefix, ended)

    async def read_parts(self, vector: Mapping[int, int], limit: int) -> list[StoredEvent]:
        """Tail: the next events of the parts in `vector` after their positions, in order of part and position.

        At most `limit`, shared among the parts that have more. Raises `StoreGap` at a hole.
        """
        return await self._reader.read_parts(vector, limit)

    async def changed_streams(self, after: Mapping[int, int], upto: Mapping[int, int]) -> dict[str, int]:
        """The streams with events after the positions `after` and up to `upto`, each with its last number there."""
        return await self._reader.changed_streams(after, upto)

    async def part_heads(self) -> dict[int, int]:
        """The last position of every part."""
        return await self._reader.part_heads()

    async def log_id(self) -> str:
        """The name of this log, the same in every copy of it."""
        return await self._reader.log_id()

    async def verify_stream(self, stream: str) -> Broken | None:
        """Walk a stream's chain and compare its head; the first thing that is wrong with it, or None."""
        return await self._reader.walk_stream(stream)

    async def verify(
        self,
        progress: Callable[[int], None] = lambda events: None,
        seals: Mapping[int, bytes] = MappingProxyType({}),
        processes: int | None = None,
    ) -> Walked:
        """Walk all chains and positions, part by part, and compare the parts' trees with packed `seals`.

        `progress` is told how many events were walked since it was last told. See `infra.store.verify`.
        """
        heads = await self._reader.part_heads()
        in_use = {part: heads.get(part, 0) for part in await self._reader.parts_in_use()}
        return await walk(self._url, self.parts, in_use, seals, progress, processes)

    def _tell(self, heads: Sequence[StreamHead]) -> None:
        for callback in self._callbacks:
            try:
                callback(heads)
            except Exception:  # who listens must not fail who appends
                log.exception("on_append_failed")


async def _read_layout(url: str) -> int:
    """The number of parts."""
    try:
        connection = await connect.connect(url)
        async with connection:
            row = await (await connection.execute(LAYOUT)).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise Fault("store_not_migrated", "the database has no event store yet; run `khrap db init`") from error
    except connect.Unavailable as error:
        if f'role "{connect.APP_ROLE}" does not exist' in str(error):
            raise Fault("store_not_migrated", "the database has no event store yet; run `khrap db init`") from error
        raise Fault("store_unavailable", connect.reason(error)) from error
    if row is None:
        raise Fault("store_not_migrated", "the event store's layout is missing; run `khrap db init`")
    return int(row[0])
