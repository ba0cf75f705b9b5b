"""The composition root: runs the parts of the service, in this process and on this loop, and stops them in order.

The parts are `api`, `projector` and `steward`, each alone or all together, here or in many processes.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Literal, get_args

from litestar.types import ControllerRouterHandler

from infra import tracing as traces
from infra.audit import Checkpoints
from infra.beat import Beat
from infra.clock import Clock
from infra.dispute_keys import DisputeKeys
from infra.keeping import kept
from infra.leases import Leases
from infra.presence import be_present, presence_name
from infra.projection_store import ProjectionReader
from infra.redis import Publisher
from infra.settings import Settings
from infra.telemetry import logger
from projections import runner
from projections.catalogue import VERSIONS
from projections.disputes import due_disputes
from projections.ledger.reads import mismatches
from services.core import Core, open_core
from services.disputes.service import Disputes
from services.exposition import Exposition
from services.node import Node
from services.nudges import Nudges
from services.server import HttpServer
from services.steward.alarms import Alarms
from services.steward.deadlines import Deadlines
from services.steward.sealing import Sealing
from services.steward.steward import Steward
from services.watch import Watch

Part = Literal["api", "projector", "steward"]
PARTS: tuple[Part, ...] = get_args(Part)

YOUNG = 5_000
"""So many new objects, and not 700, before the collector looks for cycles among them."""

log = logger("runtime")


@asynccontextmanager
async def running(
    core: Core,
    parts: Sequence[Part],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    more: Sequence[ControllerRouterHandler] = (),
) -> AsyncIterator[str]:
    """Run `parts` for as long as the block runs; gives the API's base URL, empty where the API is not among them.

    `more` are routes beside the API's.

    At the end the API takes no more connections, lets go of those who follow tables and answers what it has begun; then
    the others end. Postgres or Redis being away or silent ends no part: it is waited for. A part ends the block by a
    fault that does not pass (`infra.keeping.LASTING`): raises an exception group.
    """
    api = Node(core, host, port, more) if "api" in parts else None
    async with asyncio.TaskGroup() as group:
        name = presence_name(parts)
        present = kept("presence", lambda: be_present(core.addresses.application, name))
        others = [group.create_task(present, name="presence")]
        if "projector" in parts:
            others.append(group.create_task(_projector(core), name="projector"))
        else:
            others.append(group.create_task(_nudging(core), name="nudging"))
        if "steward" in parts:
            others.append(group.create_task(_steward(core), name="steward"))
        serving = None if api is None else group.create_task(api.run(), name="api")
        try:
            if api is not None:
                await api.ready()
            yield "" if api is None else api.url
        finally:
            if api is not None and serving is not None:
                api.stop()
                await asyncio.wait([serving])
            for task in others:
                task.cancel()


async def serve(
    settings: Settings, parts: Sequence[Part], *, with_parent: bool = False, clock: Clock | None = None
) -> None:
    """Run `parts` until told to stop, then stop gracefully. Raises Fault, or a group of what parts failed with."""
    with told_to_stop(with_parent=with_parent) as stop:
        async with (
            tracing(settings),
            open_core(settings, clock=clock) as core,
            exposing(core) as metrics,
            running(core, parts, host=settings.host, port=settings.port) as url,
        ):
            log.info("serving", parts=list(parts), url=url or None, metrics=metrics)
            spare_collector()
            await stop.wait()
            log.info("stopping")


def spare_collector() -> None:
    """Have the collector of cycles look seldom, and not at what is there now, which stays for good.

    What serves a request leaves no cycles behind, and at 700 new objects the collector looks every fourth one.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


@asynccontextmanager
async def tracing(settings: Settings) -> AsyncIterator[None]:
    """Record spans for as long as the block runs, where they are configured. Raises Fault."""
    if not traces.wanted(settings.otlp_endpoint, os.environ):
        yield
        return
    traces.begin(settings.otlp_endpoint)
    try:
        yield
    finally:
        await asyncio.to_thread(traces.end)


@asynccontextmanager
async def exposing(core: Core) -> AsyncIterator[str | None]:
    """Answer Prometheus for as long as the block runs, where settings name a port; gives the URL. Raises Fault."""
    settings = core.settings
    if settings.metrics_port is None:
        yield None
        return
    async with ProjectionReader(core.addresses.application, size=1, versions=VERSIONS) as reader:
        watch = Watch(core.store, reader, Beat(core.addresses.application), core.clock)
        server = HttpServer(Exposition(core.store, watch), settings.metrics_host, settings.metrics_port)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.run(), name="metrics")
            await server.ready()
            try:
                yield f"{server.url}/metrics"
            finally:
                server.stop()
        await watch.close()


@contextmanager
def told_to_stop(*, with_parent: bool = False) -> Iterator[asyncio.Event]:
    """An event that SIGTERM and SIGINT set; and, `with_parent`, the end of standard input, however the parent ended."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    stdin = sys.stdin.fileno() if with_parent else None

    def read() -> None:
        if stdin is not None and not os.read(stdin, 4096):
            loop.remove_reader(stdin)
            stop.set()

    if stdin is not None:
        loop.add_reader(stdin, read)
    try:
        yield stop
    finally:
        if stdin is not None:
            loop.remove_reader(stdin)
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)


async def _projector(core: Core) -> None:
    addresses = core.addresses
    await runner.run(core.store, core.codec, database_url=addresses.application, redis_url=addresses.redis)


async def _steward(core: Core) -> None:
    beat = Beat(core.addresses.application)
    leases = Leases(core.addresses.application)
    keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
    try:
        async with (
            ProjectionReader(core.addresses.application, versions=VERSIONS) as reader,
            Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing) as checkpoints,
            asyncio.TaskGroup() as group,
        ):
            steward = Steward(core.store, core.play, beat, core.clock, leases)
            alarms = Alarms(core.play, lambda: mismatches(reader))
            disputes = Disputes(core.store, core.codec, core.play, reader, keys, core.clock)
            deadlines = Deadlines(disputes, lambda now_ms: due_disputes(reader, now_ms), core.clock)
            sealing = Sealing(checkpoints, core.clock, core.settings.seal_interval_s)
            group.create_task(kept("steward", steward.run))
            group.create_task(kept("alarms", alarms.run))
            group.create_task(kept("deadlines", deadlines.run))
            group.create_task(kept("sealing", sealing.run))
    finally:
        await leases.close()
        await keys.close()
        await beat.close()


async def _nudging(core: Core) -> None:
    """Tell the projector, which runs elsewhere, and the other nodes that something was appended."""
    publisher = Publisher(core.addresses.redis)
    core.store.on_append(Nudges(publisher).appended)
    await kept("publisher", publisher.run)
