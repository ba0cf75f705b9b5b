"""All projections in one process: `khrap serve` and `khrap serve projector` run this."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog

from infra.codec import Codec
from infra.faults import Fault
from infra.keeping import LASTING, RETRY_S, kept
from infra.redis import NUDGE, Message, Publisher, Subscriber
from infra.store import EventStore
from infra.witness import Ahead, Witness, missing
from projections.catalogue import PROJECTIONS
from projections.engine.log import Log
from projections.engine.projector import Projector
from projections.engine.tail import Tail
from projections.engine.types import Projection
from projections.live import NAME as LIVE
from projections.live import Live

WITNESS_S = 2.0
"""How often it is noted outside the database how far the log is, so that a restored older one is noticed."""

log = structlog.get_logger(__name__)


async def run(
    store: EventStore,
    codec: Codec,
    *,
    database_url: str,
    redis_url: str,
    projections: Sequence[Projection[Any]] = PROJECTIONS,
    stop: asyncio.Event | None = None,
) -> None:
    """Keep the projections, and publish what happens, until `stop` is set or the task is cancelled.

    Any number of processes may run this: they share the projections by leases, and when one of them ends, however it
    ends, the others take over what it kept. Postgres or Redis being away or silent is waited for. Raises Fault where
    waiting does not help: one of `infra.keeping.LASTING`.
    """
    stop = stop or asyncio.Event()
    running = asyncio.create_task(_run(store, codec, database_url, redis_url, projections))
    stopping = asyncio.create_task(stop.wait())
    failed: list[BaseException] = []
    try:
        await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
    except* Fault as faults:
        failed.extend(faults.exceptions)
    finally:
        for task in (running, stopping):
            task.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)
    if failed:  # raised here, since what an `except*` raises may come in a group of its own
        raise failed[0]


async def _run(
    store: EventStore, codec: Codec, database_url: str, redis_url: str, projections: Sequence[Projection[Any]]
) -> None:
    reading = Log(store, codec.decode_public)
    tail = Tail(reading, await _heads(reading))
    publisher = Publisher(redis_url)
    live = Live(publisher)
    tail.listen(live.batch)
    store.on_append(lambda heads: tail.nudge())

    def leased(name: str, held: bool) -> None:
        live.active = held

    projector = Projector(
        database_url, reading, tail, projections, others=[LIVE], on_commit=live.committed, on_lease=leased
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kept("publisher", publisher.run))
        tasks.create_task(kept("nudges", lambda: _nudged(redis_url, tail)))
        tasks.create_task(kept("tail", tail.run))
        tasks.create_task(kept("witness", lambda: _witness(store, redis_url)))
        tasks.create_task(kept("projector", projector.run))


async def _heads(reading: Log) -> dict[int, int]:
    """The end of the log, as soon as the store answers."""
    while True:
        try:
            return await reading.heads()
        except Fault as fault:
            if fault.code in LASTING:
                raise
            log.warning("projector_waits", code=fault.code, detail=fault.detail)
            await asyncio.sleep(RETRY_S)


async def _witness(store: EventStore, redis_url: str) -> None:
    """Note how far the log is, for ever. Raises Fault(`log_restored`) where it is shorter than it was."""
    witness = Witness(redis_url, await store.log_id())
    known = await witness.last()
    while True:
        heads = await store.part_heads()
        lost = missing(known, heads)
        if lost:
            raise Ahead("this process", lost).fault()
        await witness.note(heads)
        known = heads
        await asyncio.sleep(WITNESS_S)


async def _nudged(redis_url: str, tail: Tail) -> None:
    """Look at the log when another process says that it has appended."""
    async for each in Subscriber(redis_url, [NUDGE]).messages():
        if isinstance(each, Message):
            tail.nudge()
