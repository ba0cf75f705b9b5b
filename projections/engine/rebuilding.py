"""A rebuild: a generation made from the log beside the one that serves, checked against it, and switched to.

In this order, each step to be done again after a kill: begin or find the generation; fill it up to where the serving
one stands; follow that one; compare both at the same position; leave it to the projectors; switch. The serving one goes
on all the time, but for the moment in which both are brought to one position and that in which the readers switch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import structlog
from msgspec import Struct

from infra.faults import Fault
from infra.leases import LEASE_S, Leases
from infra.projection_store import (
    Comparison,
    Generation,
    Generations,
    ProjectionWriter,
    WriteBroken,
    WriteStale,
    overtaken,
)
from infra.store import EventStore
from projections.engine.applying import Applier
from projections.engine.building import Job, build, ranges
from projections.engine.follower import Follower, definition
from projections.engine.log import Decode, Log, Vector
from projections.engine.types import Projection

NEAR = 1_000
"""Nearer than so many events the serving generation is held still for the rest of the way: some 20 ms."""
CATCH_UP = 5_000
KEPT_WITHIN_S = 2 * LEASE_S
"""So soon a projector that has the code takes up a generation that is left to it."""
LOOK_S = 0.25

log = structlog.get_logger(__name__)

Phase = Literal["filling", "indexing", "catching up", "checking", "handing over", "done"]


class Progress(Struct, frozen=True, kw_only=True):
    """How far a rebuild is. `done` and `total` are events; `eta_s` is None where it cannot be told; `lag` is how many
    events of the log the generation that serves the readers has not passed.
    """

    name: str
    phase: Phase
    done: int
    total: int
    rate: int
    eta_s: int | None
    lag: int


class Rebuilt(Struct, frozen=True, kw_only=True):
    """What came of a rebuild. `switched` says whether the readers are on it; `resumed` whether it was begun before.

    `comparison` is None where there was none to compare with; `seconds` are those of this run alone; `peak_mb` is the
    most memory that one of the processes that filled it took.
    """

    name: str
    version: int
    generation: int
    schema: str
    events: int
    seconds: float
    peak_mb: int
    resumed: bool
    switched: bool
    comparison: Comparison | None
    broken: tuple[str, ...] = ()


OnProgress = Callable[[Progress], None]


def _nobody(progress: Progress) -> None:
    """Nobody watches."""


class Rebuild:
    """One projection's rebuild. `processes` fill it; 1 is this one."""

    def __init__(
        self,
        url: str,
        store: EventStore,
        decode: Decode,
        projection: Projection[Any],
        *,
        processes: int = 1,
        on_progress: OnProgress = _nobody,
    ) -> None:
        self._url = url
        self._store = store
        self._decode = decode
        self._projection = projection
        self._processes = processes
        self._on_progress = on_progress
        self._rate = 0
        self._peak_mb = 0

    async def run(self, *, accept: bool = False) -> Rebuilt:
        """Build, check and switch; `accept` switches though rows differ from those that serve.

        Raises Fault: `rebuild_running` where another process builds it, `projection_not_kept` where the processes that
        keep the serving version do not have this one's code, `projection_changed`, `store_gap`, `store_unavailable`.
        """
        began = time.monotonic()
        async with Generations.open(self._url) as generations:
            own, resumed = await self._begin(generations, accept)
            comparison: Comparison | None = None
            broken: tuple[str, ...] = ()
            serving = await generations.serving(own.name)
            if own.state == "building":
                async with self._held(own.schema):
                    comparison, broken = await self._build(generations, own)
            elif serving is None:
                raise Fault("rebuild_running", f"the projectors make {own.schema}, and it will serve by itself")
            good = not broken and (comparison is None or accept or comparison.alike)
            if good:
                await self._hand_over(generations, own, serving)
            else:
                await generations.refuse(own.schema, _why(comparison, broken))
            return Rebuilt(
                name=own.name,
                version=own.version,
                generation=own.generation,
                schema=own.schema,
                events=sum((await generations.vector(own.schema)).values()),
                seconds=time.monotonic() - began,
                peak_mb=self._peak_mb,
                resumed=resumed,
                switched=good,
                comparison=comparison,
                broken=broken,
            )

    async def verify(self) -> Rebuilt:
        """Compare the rows that serve with a fresh fold of the log by this code, which is gone afterwards."""
        began = time.monotonic()
        async with Generations.open(self._url) as generations:
            serving = await generations.serving(self._projection.name)
            if serving is None:
                raise Fault("projection_missing", f"no version of {self._projection.name} serves: nothing to verify")
            own, resumed = await self._begin(generations, False)
            if own.state != "building":
                raise Fault("rebuild_running", f"{own.schema} waits to be switched to; rebuild, or drop it first")
            async with self._held(own.schema):
                comparison, broken = await self._build(generations, own)
            await generations.give_up(own.schema)
            assert comparison is not None
            return Rebuilt(
                name=serving.name,
                version=serving.version,
                generation=serving.generation,
                schema=serving.schema,
                events=comparison.events,
                seconds=time.monotonic() - began,
                peak_mb=self._peak_mb,
                resumed=resumed,
                switched=False,
                comparison=comparison,
                broken=broken,
            )

    async def _begin(self, generations: Generations, accept: bool) -> tuple[Generation, bool]:
        """The generation to build. One that was refused begins anew, unless it is accepted as it is."""
        parts = sorted(await self._store.part_heads())
        own, resumed = await generations.begin(definition(self._projection), parts)
        if resumed and own.refused is not None and not accept:
            if await generations.kept(own.schema):
                raise Fault("rebuild_running", f"{own.schema} is being built by another process")
            await generations.give_up(own.schema)
            own, resumed = await generations.begin(definition(self._projection), parts)
        return own, resumed

    @asynccontextmanager
    async def _held(self, schema: str) -> AsyncIterator[None]:
        """Have the generation for this process alone."""
        leases = Leases(self._url)
        until = time.monotonic() + LEASE_S + 2 * LOOK_S  # one that was killed holds it so long
        try:
            while schema not in await leases.share([schema]):
                if time.monotonic() > until:
                    raise Fault(
                        "rebuild_running", f"{schema} is being built by another process; wait, or stop that one"
                    )
                await asyncio.sleep(LOOK_S)
            keeping = asyncio.create_task(self._keep(leases, schema))
            try:
                yield
            except WriteStale as stale:
                raise overtaken(schema) from stale
            except WriteBroken as broken:
                detail = f"{schema} cannot be written: {broken.reason}; drop it, and look at Postgres's log and disk"
                raise Fault("rebuild_failed", detail) from broken
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
        finally:
            await leases.close()

    async def _keep(self, leases: Leases, schema: str) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            try:
                await leases.share([schema], {schema: self._rate})
            except Fault as fault:
                log.warning("rebuild_lease", code=fault.code, detail=fault.detail)

    async def _build(self, generations: Generations, own: Generation) -> tuple[Comparison | None, tuple[str, ...]]:
        """Bring it to where the serving one stands, and compare the two there."""
        if not any((g.schema, g.state) == (own.schema, "building") for g in await generations.all()):
            raise overtaken(own.schema)  # between the look and the lease
        serving = await generations.serving(own.name)
        upto = await self._store.part_heads() if serving is None else await generations.vector(serving.schema)
        async with self._watched(own, serving):
            await self._fill(own, await generations.vector(own.schema), upto)
        await self._say(own, serving, "indexing")
        await generations.finish(own.schema)
        writer = await ProjectionWriter.connect(self._url)
        try:
            follower = Follower(
                self._projection,
                own.schema,
                await writer.shapes(own.schema),
                await writer.checkpoint(own.schema),
            )
            applier = Applier(Log(self._store, self._decode), writer)
            await applier.take_up_parked(follower)
            if serving is None:
                async with generations.snapshot() as snapshot:
                    return None, tuple(await snapshot.broken(own.schema, self._projection.laws))
            await self._say(own, serving, "catching up")
            await self._near(generations, serving, follower, applier)
            async with AsyncExitStack() as stack:
                async with generations.held_still(serving.schema) as there:
                    await self._follow(follower, applier, there)
                    snapshot = await stack.enter_async_context(generations.snapshot())
                await self._say(own, serving, "checking")
                changes = self._projection.changes if serving.version < own.version else ()
                comparison = await snapshot.compare(own.schema, serving.schema, changes, self._projection.laws)
            return comparison, comparison.broken
        finally:
            await writer.close()

    async def _fill(self, own: Generation, vector: Vector, upto: Vector) -> None:
        sizes = {part: max(0, pos - vector.get(part, 0)) for part, pos in upto.items()}
        jobs = [
            Job(self._url, self._projection, own.schema, {part: upto[part] for part in parts})
            for parts in ranges(sizes)
        ]
        self._peak_mb = await build(jobs, self._processes, self._decode)

    async def _near(
        self, generations: Generations, serving: Generation, follower: Follower[Any], applier: Applier
    ) -> None:
        """Follow the serving one until it is nearly reached."""
        while True:
            there = await generations.vector(serving.schema)
            missing = [pos - follower.vector[part] for part, pos in there.items()]
            if min(missing) < 0:
                detail = f"{follower.schema} is ahead of {serving.schema}, which serves"
                raise Fault(
                    "rebuild_failed", f"{detail}; run `khrap projections drop {serving.name}`, and rebuild again"
                )
            if sum(missing) <= NEAR:
                return
            await self._follow(follower, applier, there)

    async def _follow(self, follower: Follower[Any], applier: Applier, upto: Vector) -> None:
        reading = Log(self._store, self._decode)
        while follower.vector != upto:
            batch = await reading.read(follower.vector, CATCH_UP, upto=upto)
            if not batch.entries:
                raise Fault(
                    "store_gap", "the log has a hole where the serving version has passed; run `khrap audit verify`"
                )
            await applier.apply([follower], batch, live=False)

    async def _hand_over(self, generations: Generations, own: Generation, serving: Generation | None) -> None:
        """Leave it to the projectors, and let the readers switch once it has passed all that the serving one has."""
        await self._say(own, serving, "handing over")
        if own.state == "building":
            await generations.follow(own.schema)
        until = time.monotonic() + KEPT_WITHIN_S
        while serving is not None and await generations.kept(serving.schema):
            if await generations.kept(own.schema):
                break
            if time.monotonic() > until:
                raise Fault(
                    "projection_not_kept",
                    f"{own.schema} is built and checked, but no projector keeps it up: those that run do not have "
                    f"version {own.version} of {own.name}. Start them anew with this release, then rebuild again: "
                    "nothing is repeated",
                )
            await asyncio.sleep(LOOK_S)
        until = time.monotonic() + KEPT_WITHIN_S
        while not await generations.switch(own.name, own.schema, first=True):
            if time.monotonic() > until and not await generations.kept(own.schema):
                raise Fault("projection_not_kept", f"{own.schema} stays behind: no projector keeps it up any more")
            await asyncio.sleep(LOOK_S / 10)
        log.info("projection_switched", projection=own.name, schema=own.schema)
        await self._say(own, own, "done")

    @asynccontextmanager
    async def _watched(self, own: Generation, serving: Generation | None) -> AsyncIterator[None]:
        """Tell of the filling while it lasts."""

        async def tell() -> None:
            async with Generations.open(self._url) as watching:
                began, first = time.monotonic(), sum((await watching.vector(own.schema)).values())
                while True:
                    done = await self._say(own, serving, "filling", watching)
                    self._rate = round((done - first) / max(0.1, time.monotonic() - began))
                    await asyncio.sleep(LOOK_S)

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _say(
        self, own: Generation, serving: Generation | None, phase: Phase, generations: Generations | None = None
    ) -> int:
        """Tell how far it is; how many events are done."""
        if generations is None:
            async with Generations.open(self._url) as opened:
                return await self._say(own, serving, phase, opened)
        heads = await self._store.part_heads()
        done, total = sum((await generations.vector(own.schema)).values()), sum(heads.values())
        lag = 0 if serving is None else total - sum((await generations.vector(serving.schema)).values())
        eta = round((total - done) / self._rate) if self._rate else None
        self._on_progress(
            Progress(name=own.name, phase=phase, done=done, total=total, rate=self._rate, eta_s=eta, lag=lag)
        )
        return done


def _why(comparison: Comparison | None, broken: Sequence[str]) -> str:
    if broken:
        return f"{len(broken)} laws do not hold: {broken[0]}"
    assert comparison is not None
    if comparison.damaged:
        return f"what serves cannot be read: {comparison.damaged[0]}"
    if comparison.unsaid:
        return f"not in both versions, and no change that the release names: {', '.join(comparison.unsaid)}"
    if comparison.parked:
        return f"it parks what the serving version applies: {comparison.parked[0]}"
    first = comparison.differences[0]
    return f"rows differ from those that serve: {first.table} {first.key} {first.column or ''}".rstrip()
