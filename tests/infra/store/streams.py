"""Writers and troublemakers that the store's tests share."""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncIterator, Callable, Sequence

import psycopg
from psycopg import AsyncConnection

from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend, StreamHead, Verdict

KILL_EVERY_S = 0.1


def new_stream(kind: str = "table") -> StreamHead:
    """The head of a stream that has no events yet."""
    return StreamHead(f"{kind}-{uuid.uuid4()}", 0, GENESIS)


def in_part(store: EventStore, part: int) -> StreamHead:
    """A new stream that lives in the part."""
    return next(head for head in iter(new_stream, None) if store.part_of(head.stream) == part)


def event(body: str = "{}", type_: str = "card_played") -> NewEvent:
    """An event that is not stored yet."""
    return NewEvent(type_, 1, body.encode(), b'{"at":"2026-01-02T03:04:05.678Z"}')


def command(*parts: tuple[StreamHead, Sequence[NewEvent]], command_id: bytes | None = None) -> Append:
    """A command that appends these events after these heads."""
    streams = tuple(StreamAppend(head.stream, head.seq, head.hash, tuple(events)) for head, events in parts)
    return Append(command_id or uuid.uuid4().bytes, streams)


def head_of(verdict: Verdict) -> StreamHead:
    """The first stream's head, of an append that must have been stored."""
    assert isinstance(verdict, Appended), verdict
    return verdict.heads[0]


async def write(store: EventStore, head: StreamHead, commands: int, events: int = 1) -> StreamHead:
    """Append one command after another to the stream; its head at the end."""
    for number in range(commands):
        head = head_of(await store.append(command((head, [event(f'{{"n":{number}}}')] * events))))
    return head


async def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    """Wait for a moment that nothing announces."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def killing(owner_url: str, every_s: float = KILL_EVERY_S) -> AsyncIterator[list[int]]:
    """Meanwhile some back-end of this database's application is terminated ten times a second; yields their ids."""
    killed: list[int] = []
    chance = random.Random(1)

    async def kill(connection: AsyncConnection[tuple[int]]) -> None:
        while True:
            await asyncio.sleep(every_s)
            cursor = await connection.execute(
                "select pid from pg_stat_activity where datname = current_database() and application_name = 'khrap'"
            )
            pids = [pid for (pid,) in await cursor.fetchall()]
            if pids:
                pid = chance.choice(pids)
                await connection.execute("select pg_terminate_backend(%s)", (pid,))
                killed.append(pid)

    async with await psycopg.AsyncConnection.connect(owner_url, autocommit=True) as connection:
        killer = asyncio.create_task(kill(connection))
        try:
            yield killed
        finally:
            killer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await killer
