"""Walking the log: is it what was written? DESIGN "The event store", promise 4, and "Audit".

Finds a changed, removed, added or moved event, and counters that do not agree with the events. A stream that was cut
off together with its head, or hashed anew to its end, is found by checkpoints (`infra.audit`): the seals.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from msgspec import Struct
from psycopg import AsyncConnection, Connection
from psycopg.rows import args_row

from infra.faults import Fault
from infra.store.chain import event_hash
from infra.store.connect import Damaged, Unavailable, damaged, reason
from infra.store.queries import query
from infra.store.types import GENESIS, StoredEvent, StreamHead
from infra.store.walk import MISFIT, Broken, PartWalked, connect, disagreement, walk_part

HEADS = query("heads")
READ_STREAM = query("read_stream")

BATCH = 2_000
ATTEMPTS = 3
LOOK_S = 0.05
FEW = 50_000
"""Up to so many events this process walks alone: others take longer to start than it takes to walk them."""


class Walked(Struct, frozen=True):
    """What a walk has seen, and the first thing wrong in each part where something is, in order of part."""

    events: int
    streams: int
    broken: tuple[Broken, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.broken


Lost = str
"""Why a part could not be walked."""


async def walk(
    url: str,
    parts: int,
    heads: Mapping[int, int],
    seals: Mapping[int, bytes],
    progress: Callable[[int], None],
    processes: int | None = None,
) -> Walked:
    """Walk the parts of `heads`, which has about how many events each holds, and those that have (packed) `seals`.

    In as many processes as there are processors, where it is worth it. `progress` is told how many events were read
    since it was last told. Raises Fault: `store_unavailable`, `store_damaged`, `walk_ended`.
    """
    todo = sorted(heads.keys() | seals.keys(), key=lambda part: -heads.get(part, 0))
    if processes is None:
        processes = 1 if sum(heads.values()) <= FEW else os.cpu_count() or 1
    walked = await _by_processes(url, parts, todo, seals, progress, min(processes, len(todo) or 1))
    by_part = sorted(zip(todo, walked, strict=True))
    return Walked(
        events=sum(each.events for _, each in by_part),
        streams=sum(each.streams for _, each in by_part),
        broken=tuple(each.broken for _, each in by_part if each.broken is not None),
    )


async def _by_processes(
    url: str,
    parts: int,
    todo: Sequence[int],
    seals: Mapping[int, bytes],
    progress: Callable[[int], None],
    processes: int,
) -> list[PartWalked]:
    counter: Any
    pool: Executor
    if processes == 1:
        counter = _Counter()
        pool = ThreadPoolExecutor(1, initializer=_begin, initargs=(url, counter))
    else:
        # Not forked: this process has threads and connections that a copy must not have.
        spawning = multiprocessing.get_context("spawn")
        counter = spawning.Value("q", 0)
        pool = ProcessPoolExecutor(processes, spawning, initializer=_begin, initargs=(url, counter))
    told = 0

    def tell() -> None:
        nonlocal told
        count = counter.value
        if count > told:
            progress(count - told)
            told = count

    async def telling() -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            tell()

    loop = asyncio.get_running_loop()
    task = asyncio.create_task(telling())
    try:
        asked = [loop.run_in_executor(pool, _one, part, parts, bytes(seals.get(part, b""))) for part in todo]
        walked = await asyncio.gather(*asked)
    except BrokenProcessPool as error:
        raise Fault("walk_ended", "a process that walked the log was ended from outside; try again") from error
    finally:
        task.cancel()
        if processes == 1:
            pool.submit(_end)
        pool.shutdown(wait=False)
    tell()
    for each in walked:
        if isinstance(each, Lost):
            raise Fault("store_unavailable", each)
    return [each for each in walked if isinstance(each, PartWalked)]


class _Counter:
    """What `multiprocessing.Value` is among processes."""

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.Lock()

    def get_lock(self) -> threading.Lock:
        return self._lock


class _Worker:
    """What a walking process or thread holds."""

    def __init__(self, url: str, counter: Any) -> None:
        self._url = url
        self._counter = counter
        self._connection: Connection[Any] | None = None

    def walk(self, part: int, parts: int, seals: bytes) -> PartWalked | Lost:
        """Walk a part; where the connection is lost, anew and from its beginning."""
        lost = ""
        for _ in range(ATTEMPTS):
            try:
                if self._connection is None:
                    self._connection = connect(self._url)
                return walk_part(self._connection, part, parts, seals, self._count)
            except Damaged as error:
                raise damaged(error) from error
            except Unavailable as error:
                lost = reason(error)
                self.close()
        return lost

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            with suppress(*Unavailable):
                self._connection.close()
            self._connection = None

    def _count(self, events: int) -> None:
        with self._counter.get_lock():
            self._counter.value += events


_here = threading.local()


def _begin(url: str, counter: Any) -> None:
    if multiprocessing.parent_process() is not None:
        # Ctrl-C goes to all of them: the parent stops, and they end with it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here.worker = _Worker(url, counter)


def _end() -> None:
    worker: _Worker = _here.worker
    worker.close()


def _one(part: int, parts: int, seals: bytes) -> PartWalked | Lost:
    worker: _Worker = _here.worker
    return worker.walk(part, parts, seals)


def wrong_after(seq: int, previous: bytes, event: StoredEvent) -> str | None:
    """What is wrong with an event that should follow number `seq` with the hash `previous`; None if nothing is."""
    if event.seq != seq + 1:
        return f"event {seq + 1} of the stream is missing"
    expected = event_hash(
        previous,
        event.stream,
        event.seq,
        event.type,
        event.version,
        event.command_id,
        event.idx,
        event.body,
        event.meta,
    )
    return None if event.hash == expected else MISFIT


async def walk_stream(connection: AsyncConnection[Any], part: int, stream: str) -> Broken | None:
    """Walk a stream, as it stood at one moment, and compare its head; the first thing that is wrong, or None."""
    events = connection.cursor(binary=True, row_factory=args_row(StoredEvent))
    heads = connection.cursor(binary=True)
    walked = StreamHead(stream, 0, GENESIS)
    async with connection.transaction():
        await connection.execute("set transaction isolation level repeatable read, read only")
        while True:
            await events.execute(READ_STREAM, (part, stream, walked.seq, BATCH), prepare=True)
            batch = await events.fetchall()
            for event in batch:
                what = wrong_after(walked.seq, walked.hash, event)
                if what is not None:
                    return Broken(part, event.pos, stream, event.seq, what)
                walked = StreamHead(stream, event.seq, event.hash)
            if len(batch) < BATCH:
                break
        await heads.execute(HEADS, ([part], [stream]), prepare=True)
        row = await heads.fetchone()
    kept = StreamHead(stream, 0, GENESIS) if row is None else StreamHead(*row)
    if walked == kept:
        return None
    return Broken(part, 0, stream, walked.seq, disagreement((kept.seq, kept.hash), (walked.seq, walked.hash)))
