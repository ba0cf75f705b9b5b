"""A store with a fresh database, and projectors that run beside the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Struct

from infra.codec import Codec
from infra.projection_store import ProjectionReader, ProjectionWriter, Shape, Standing
from infra.projection_store.types import STATES
from infra.store import EventStore
from projections.catalogue import PROJECTIONS
from projections.engine.types import Projection
from projections.runner import run
from tests.conftest import Database
from tests.projections.fresh_fold import fresh_fold, stored_rows
from tests.projections.world import World

WITHIN_S = 60.0


class Bench(Struct):
    """What a test of projections needs at hand."""

    database: Database
    redis_url: str
    world: World
    reader: ProjectionReader

    @asynccontextmanager
    async def projecting(
        self, projections: Sequence[Projection[Any]] = PROJECTIONS, codec: Codec | None = None
    ) -> AsyncIterator[asyncio.Task[None]]:
        """A projector as the service runs it, with a store of its own, until the block ends."""
        async with await EventStore.open(self.database.app_url) as store:
            running = asyncio.create_task(
                run(
                    store,
                    codec or self.world.codec,
                    database_url=self.database.app_url,
                    redis_url=self.redis_url,
                    projections=projections,
                )
            )
            try:
                yield running
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    async def standing(self, name: str) -> Standing | None:
        """How the first version of `name` stands."""
        return next((each for each in await self.reader.standings() if each.name == name), None)

    async def caught_up(self, projections: Sequence[Projection[Any]] = PROJECTIONS) -> None:
        """Wait until all of `projections` have passed the whole log."""
        names = {each.name for each in projections}

        async def at_head() -> bool:
            standings = [each for each in await self.reader.standings() if each.name in names]
            return len(standings) == len(names) and all(
                each.position == each.head == self.world.events for each in standings
            )

        await eventually(at_head)

    async def shapes(self, schema: str) -> dict[str, Shape]:
        """A generation's tables."""
        writer = await ProjectionWriter.connect(self.database.app_url)
        try:
            return await writer.shapes(schema)
        finally:
            await writer.close()

    async def compare(
        self, projections: Sequence[Projection[Any]] = PROJECTIONS, schemas: Mapping[str, str] | None = None
    ) -> None:
        """Every projection's rows equal a fresh fold of the log: its first generation's, or as `schemas` says."""
        log = await self.world.recorded()
        for projection in projections:
            schema = (schemas or {}).get(projection.name, projection.schema)
            shapes = await self.shapes(schema)
            stored = stored_rows(self.database.owner_url, schema, shapes)
            fresh = fresh_fold(projection, shapes, log)
            for table in shapes.keys() - {STATES}:
                assert stored[table].keys() == fresh[table].keys(), f"{projection.name}.{table}"
                for key, row in fresh[table].items():
                    assert stored[table][key] == row, f"{projection.name}.{table} {key}"


async def eventually(holds: Callable[[], Any], within_s: float = WITHIN_S) -> None:
    """Wait until `holds` (a coroutine function) is true."""
    async with asyncio.timeout(within_s):
        while not await holds():  # noqa: ASYNC110  # what holds is in Postgres or Redis: nobody sets an event
            await asyncio.sleep(0.02)


@pytest.fixture
async def bench(database: Database, redis_url: str) -> AsyncIterator[Bench]:
    """A fresh store and its readers."""
    async with await EventStore.open(database.app_url) as store, ProjectionReader(database.app_url) as reader:
        yield Bench(database, redis_url, World(store), reader)
