"""What is read from projections outside the service: brought up to the log's end first, where nobody else does that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from infra.faults import Fault
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from projections.catalogue import VERSIONS
from services.core import Core, open_core
from services.runtime import running

CATCH_UP_S = 600.0
LOOK_S = 0.02


class Books(Struct, frozen=True):
    """The core, and a reader of its projections."""

    core: Core
    reader: ProjectionReader


@asynccontextmanager
async def open_books(settings: Settings) -> AsyncIterator[Books]:
    """Core and reader, with the projections as far as the log was when this began. Raises Fault.

    A projector runs for as long as the block does; where a service runs, its projector and ours share them.
    """
    async with (
        open_core(settings) as core,
        ProjectionReader(core.addresses.application, versions=VERSIONS) as reader,
        running(core, ("projector",)),
    ):
        await caught_up(reader, await core.store.part_heads())
        yield Books(core, reader)


async def caught_up(reader: ProjectionReader, heads: dict[int, int], within_s: float = CATCH_UP_S) -> None:
    """Wait until every version that serves has read as much as the log held at `heads`. Raises Fault(`catching_up`)."""
    upto = sum(heads.values())
    try:
        async with asyncio.timeout(within_s):
            while True:
                serving = [each for each in await reader.standings() if each.serving]
                if serving and all(each.position >= upto for each in serving):
                    return
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        raise Fault("catching_up", f"the projections did not catch up within {within_s:.0f} s") from None
