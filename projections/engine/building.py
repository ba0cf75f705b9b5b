"""Filling a generation from the log: range after range of parts, some at a time, in this process or in several.

A range is applied in large batches, each in one transaction with its checkpoint, so whatever is killed goes on from
there. Nobody else writes a generation that is being built, and no two ranges share a row but by `Add`.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import resource
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from msgspec import Struct

from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.faults import Fault
from infra.projection_store import Checkpoint, ProjectionWriter, WriteStale
from infra.sealing import KEY_BYTES, Sealer
from infra.store import EventStore
from infra.store.bulk import BulkReader, Stretch
from projections.engine.applying import Applier
from projections.engine.follower import Follower
from projections.engine.log import Decode, Log, Vector
from projections.engine.types import Projection

RANGES = 16
"""Into so many ranges the parts are dealt, by size."""
BATCH = 20_000
"""Events a transaction; a range in work takes some 40 MB."""
AT_ONCE = 2
"""Ranges in work at a time in a process: while Postgres writes the rows of one, the events of the other are applied."""


class Job(Struct, frozen=True):
    """A range of parts, to be brought to the positions `upto`."""

    url: str
    projection: Projection[Any]
    schema: str
    upto: Vector


async def build(jobs: Sequence[Job], processes: int, decode: Decode) -> int:
    """Do all jobs; the most memory that one process took for it, in megabytes.

    Raises Fault: `store_unavailable`, `store_gap`, `rebuild_failed` where a process was killed.
    """
    if processes <= 1:
        return await _here(list(jobs), decode)
    loop = asyncio.get_running_loop()
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    try:
        hands = [list(jobs[n::processes]) for n in range(processes)]
        return max(
            await asyncio.gather(*(loop.run_in_executor(pool, _there, each) for each in hands if each)), default=0
        )
    except BrokenProcessPool as error:
        detail = "a process of the rebuild was killed; run the command again, it goes on from where it was"
        raise Fault("rebuild_failed", detail) from error
    finally:
        for child in list((getattr(pool, "_processes", None) or {}).values()):
            child.kill()  # one that is stopped heeds no other signal, and what it had not committed is not there
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _there(jobs: list[Job]) -> int:
    """The jobs in a process of their own."""
    # It needs no key: projections see public halves alone.
    keyless = Codec(Sealer(bytes(KEY_BYTES), SystemEntropy()))
    return asyncio.run(_here(jobs, keyless.decode_public))


async def _here(jobs: list[Job], decode: Decode) -> int:
    if not jobs:
        return 0
    left = list(reversed(jobs))

    async def work() -> None:
        writer = await ProjectionWriter.connect(jobs[0].url)
        reader = await BulkReader.connect(jobs[0].url)
        try:
            while left:
                await _fill(left.pop(), store, reader, writer, decode)
        finally:
            reader.close()
            await writer.close()

    # What a batch makes lives until the batch is written: the collector would only walk through it, again and again.
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        async with await EventStore.open(jobs[0].url, lanes=1) as store:
            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    finally:
        gc.enable()
        gc.unfreeze()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


async def _fill(job: Job, store: EventStore, reader: BulkReader, writer: ProjectionWriter, decode: Decode) -> None:
    """Bring one range to where it is to be; what comes next is read while a batch is applied."""
    log = Log(store, decode)
    whole = await writer.checkpoint(job.schema)
    if not job.upto.keys() <= whole.vector.keys():
        raise WriteStale(f"{job.schema} is gone")
    mine = Checkpoint(
        vector={part: whole.vector[part] for part in job.upto},
        parked={stream: each for stream, each in whole.parked.items() if each.part in job.upto},
    )
    follower = Follower(job.projection, job.schema, await writer.shapes(job.schema), mine)
    applier = Applier(log, writer)
    stretches = _next(follower.vector, job.upto)
    reading = asyncio.ensure_future(reader.read(stretches)) if stretches else None
    while reading is not None:
        events = await reading
        reached = {part: upto for part, _, upto in stretches}
        stretches = _next({**follower.vector, **reached}, job.upto)
        reading = asyncio.ensure_future(reader.read(stretches)) if stretches else None
        try:
            await applier.apply([follower], log.batch(events), live=False)
        except BaseException:
            if reading is not None:
                await asyncio.gather(reading, return_exceptions=True)
            raise


def _next(vector: Vector, upto: Vector) -> list[Stretch]:
    """The next `BATCH` events or so, of all parts that have more."""
    more = {part: vector[part] for part in upto if vector[part] < upto[part]}
    share = max(1, BATCH // max(1, len(more)))
    return [(part, pos, min(upto[part], pos + share)) for part, pos in more.items()]


def ranges(sizes: Mapping[int, int], count: int = RANGES) -> list[list[int]]:
    """Parts dealt into ranges of about the same number of events, the largest first."""
    dealt: list[tuple[int, list[int]]] = [(0, []) for _ in range(count)]
    for part in sorted(sizes, key=lambda part: -sizes[part]):
        if not sizes[part]:
            break
        least = min(range(count), key=lambda n: dealt[n][0])
        events, parts = dealt[least]
        dealt[least] = (events + sizes[part], [*parts, part])
    dealt.sort(key=lambda each: -each[0])
    return [sorted(parts) for _, parts in dealt if parts]
