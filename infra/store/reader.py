"""Reading the log: by stream, by command, and as a tail over all parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import structlog
from psycopg import AsyncConnection
from psycopg.rows import args_row, tuple_row

from infra.faults import Fault
from infra.store.arrays import int2s, int8s, texts, uuids
from infra.store.batch import Batch
from infra.store.chain import part_of
from infra.store.connect import Damaged, Unavailable, damaged, reason
from infra.store.connections import Connections
from infra.store.errors import StoreGap
from infra.store.queries import query
from infra.store.types import StoredEvent, StreamHead
from infra.store.verify import walk_stream
from infra.store.walk import Broken

AHEAD = query("ahead")
CHANGED_STREAMS = query("changed_streams")
FIND_COMMANDS = query("find_commands")
HEADS = query("heads")
LAST_OF = query("last_of")
LOG_ID = query("log_id")
NEWER = query("newer")
PART_HEADS = query("part_heads")
PARTS_IN_USE = query("parts_in_use")
READ_LAST = query("read_last")
READ_PARTS = query("read_parts")
READ_SINCE_LAST = query("read_since_last")
READ_STREAM = query("read_stream")
STREAMS_NOT_ENDED = query("streams_not_ended")

AT_A_TIME = 1_000
"""So many events of a stream at most `newer` reads in one round trip."""
ANSWER_WITHIN_S = 5.0
WALK_WITHIN_S = 600.0
FIRST_RETRY_S = 0.02
LAST_RETRY_S = 0.5

Result = TypeVar("Result")
log = structlog.get_logger(__name__)


class Reader:
    """Reads on a small pool of connections. A read whose connection is lost is asked again: it changes nothing."""

    def __init__(self, url: str, parts: int, connections: int) -> None:
        self._parts = parts
        self._connections = Connections(url, connections)
        # Asked before every view and every refusal, and so by many at once.
        self._newer = Batch(self._read_newer)
        self._commands = Batch(self._find_commands)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._connections.close()

    async def find_command(self, command_id: bytes, streams: Iterable[str]) -> tuple[StoredEvent, ...]:
        """The events of the command in the parts of these streams, in order of `idx`; none if it is not there."""
        parts = frozenset([part_of(stream, self._parts) for stream in streams])
        return await self._commands.get((command_id, parts)) or ()

    async def head(self, stream: str) -> StreamHead | None:
        """The head of a stream; None if it has no events."""
        return (await self.heads([stream])).get(stream)

    async def heads(self, streams: Iterable[str]) -> dict[str, StreamHead]:
        """The heads of those of the streams that have events."""
        names = list(streams)
        rows = await self._rows(HEADS, (int2s([part_of(name, self._parts) for name in names]), texts(names)))
        return {name: StreamHead(name, seq, hash_) for name, seq, hash_ in rows}

    async def _find_commands(
        self, asked: Sequence[tuple[bytes, frozenset[int]]]
    ) -> dict[tuple[bytes, frozenset[int]], tuple[StoredEvent, ...]]:
        parts = sorted(frozenset[int]().union(*[parts for _, parts in asked]))
        events = await self._events(FIND_COMMANDS, (int2s(parts), uuids([command_id for command_id, _ in asked])))
        return {
            (command_id, wanted): tuple(
                [event for event in events if event.command_id == command_id and event.part in wanted]
            )
            for command_id, wanted in asked
        }

    async def read_stream(self, stream: str, after: int = 0, limit: int | None = None) -> list[StoredEvent]:
        """The stream's events after number `after`, in order, at most `limit`."""
        return await self._events(READ_STREAM, (part_of(stream, self._parts), stream, after, limit))

    async def newer(self, stream: str, after: int) -> list[StoredEvent]:
        """The stream's events after number `after`, in order. Who asks at the same time shares the round trip."""
        found: list[StoredEvent] = []
        while True:
            page = await self._newer.get((stream, after)) or []
            found += page
            if len(page) < AT_A_TIME:
                return found
            after = page[-1].seq

    async def _read_newer(self, asked: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[StoredEvent]]:
        afters: dict[str, list[int]] = {}
        for stream, after in asked:
            afters.setdefault(stream, []).append(after)
        parts = int2s([part_of(stream, self._parts) for stream in afters])
        least = int8s([min(each) for each in afters.values()])
        most = int8s([max(each) + AT_A_TIME for each in afters.values()])
        found: dict[str, list[StoredEvent]] = {stream: [] for stream in afters}
        for event in await self._events(NEWER, (parts, texts(list(afters)), least, most)):
            found[event.stream].append(event)
        return {(stream, after): [e for e in found[stream] if e.seq > after][:AT_A_TIME] for stream, after in asked}

    async def read_since_last(self, stream: str, types: Sequence[str]) -> list[StoredEvent]:
        """The stream's events from the last one of these types on, that one included; all if there is none."""
        return await self._events(
            READ_SINCE_LAST, {"part": part_of(stream, self._parts), "stream": stream, "types": list(types)}
        )

    async def read_last(self, stream: str) -> StoredEvent | None:
        """The stream's last event, or None."""
        events = await self._events(READ_LAST, {"part": part_of(stream, self._parts), "stream": stream})
        return events[0] if events else None

    async def last_of(self, stream: str, types: Sequence[str], at_most: int) -> int | None:
        """The number of the last event of one of these types, not after number `at_most`; None if there is none."""
        asked = {"part": part_of(stream, self._parts), "stream": stream, "types": list(types), "at_most": at_most}
        rows = await self._rows(LAST_OF, asked)
        return int(rows[0][0]) if rows else None

    async def streams_not_ended(self, prefix: str, ended: str) -> list[str]:
        """The streams whose name begins with `prefix` and whose last event is not of type `ended`."""
        return [row[0] for row in await self._rows(STREAMS_NOT_ENDED, {"prefix": prefix, "ended": ended})]

    async def part_heads(self) -> dict[int, int]:
        """The last position of each part."""
        return dict(await self._rows(PART_HEADS, ()))

    async def read_parts(self, vector: Mapping[int, int], limit: int) -> list[StoredEvent]:
        """The next events of each part in `vector`, after the position given for it, in order of part and position.

        At most `limit`, shared evenly among the parts that have more, so none waits for another. Raises `StoreGap`
        if a position is missing. A part's counter is read first: all that it counts was committed before, so it must
        be there in the second look; what comes meanwhile is left for the next call.
        """
        rows = await self._rows(AHEAD, (int2s(list(vector)), int8s(list(vector.values()))))
        if not rows:
            return []
        rows.sort(key=lambda row: row[1] - row[2])
        share = max(1, limit // len(rows))
        wanted = sorted((part, pos, min(head, pos + share)) for part, pos, head in rows[:limit])
        parts, afters, uptos = zip(*wanted, strict=True)
        events = await self._events(READ_PARTS, (int2s(parts), int8s(afters), int8s(uptos)))
        check_dense(wanted, events)
        return events

    async def log_id(self) -> str:
        """The name of this log."""
        return str((await self._rows(LOG_ID, ()))[0][0])

    async def parts_in_use(self) -> list[int]:
        """The parts that have events, heads, or a counter that says so; and any that should not be there."""
        return [part for (part,) in await self._rows(PARTS_IN_USE, ())]

    async def changed_streams(self, after: Mapping[int, int], upto: Mapping[int, int]) -> dict[str, int]:
        """The streams with events after `after` and up to `upto`, each with its last number there."""
        parts = [part for part, pos in upto.items() if pos > after.get(part, 0)]
        if not parts:
            return {}
        ranges = int2s(parts), int8s([after.get(p, 0) for p in parts]), int8s([upto[p] for p in parts])
        return dict(await self._rows(CHANGED_STREAMS, ranges))

    async def walk_stream(self, stream: str) -> Broken | None:
        """Check one stream from its first event on."""
        part = part_of(stream, self._parts)
        return await self._ask(lambda connection: walk_stream(connection, part, stream), WALK_WITHIN_S)

    async def _rows(self, text: bytes, parameters: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        return await self._ask(lambda connection: _fetch(connection, text, parameters, tuple_row))

    async def _events(self, text: bytes, parameters: Sequence[Any] | Mapping[str, Any]) -> list[StoredEvent]:
        return await self._ask(lambda connection: _fetch(connection, text, parameters, args_row(StoredEvent)))

    async def _ask(
        self, question: Callable[[AsyncConnection[Any]], Awaitable[Result]], within_s: float = ANSWER_WITHIN_S
    ) -> Result:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        delay_s = FIRST_RETRY_S
        while True:
            try:
                async with asyncio.timeout_at(deadline), self._connections.one() as connection:
                    return await question(connection)
            except Damaged as error:
                raise damaged(error) from error
            except (*Unavailable, TimeoutError) as error:
                if loop.time() + delay_s > deadline:
                    raise Fault("store_unavailable", reason(error)) from error
                log.warning("store_read_retry", error=reason(error))
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, LAST_RETRY_S)


async def _fetch(connection: AsyncConnection[Any], text: bytes, parameters: Any, rows: Any) -> list[Any]:
    cursor = connection.cursor(binary=True, row_factory=rows)
    await cursor.execute(text, parameters, prepare=True)
    return await cursor.fetchall()


def check_dense(wanted: Sequence[tuple[int, int, int]], events: Sequence[StoredEvent]) -> None:
    """Every position after `after` up to `upto` is there, for each (part, after, upto), in this order."""
    position = 0
    for part, after, upto in wanted:
        for pos in range(after + 1, upto + 1):
            if position == len(events) or (events[position].part, events[position].pos) != (part, pos):
                found = next((event.pos for event in events if event.part == part and event.pos > pos), None)
                raise StoreGap(part, pos - 1, found)
            position += 1
