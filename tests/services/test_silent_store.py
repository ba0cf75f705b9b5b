"""A process that has started outlives its store being silent: every part waits, and goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql

from domain.table import running
from infra.faults import Fault
from infra.keeping import LASTING, kept
from infra.migrations import FOLDERS
from infra.projection_store import Generations
from infra.redis import SILENCE_S, TIMEOUT_S
from infra.store.migrate import migrate
from infra.store.reader import ANSWER_WITHIN_S
from projections.runner import WITNESS_S
from tests.conftest import Database, _execute, _name, as_application, with_database
from tests.infra.own_valkey import own_valkey
from tests.infra.store.own_server import OwnServer, own_server
from tests.services.api.nodes import Node, running_node, until

SILENT_S = 2 * ANSWER_WITHIN_S + 2 * WITNESS_S
"""Nobody waits so long for an answer: whatever any part asks meanwhile fails, and is asked a second time."""


@pytest.fixture
def server() -> Iterator[OwnServer]:
    with own_server() as running:
        yield running


async def test_all_parts_outlive_a_store_that_is_silent_for_long(
    server: OwnServer, redis_url: str, tmp_path: Path
) -> None:
    """The witness of the log once ended the whole process with the first question that was not answered in time."""
    name = _name()
    _execute(server.url, sql.SQL("create database {}").format(sql.Identifier(name)))
    owner = with_database(server.url, name)
    await migrate(owner, FOLDERS)
    database = Database(name=name, owner_url=owner, app_url=as_application(owner))
    async with running_node(database, redis_url, tmp_path) as node:
        await _steward_works(node, "before")
        server.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(SILENT_S)
        finally:
            server.signal(signal.SIGCONT)
        await until(lambda: _healthy(node), 30)
        await _steward_works(node, "after")
        await until(lambda: _projected(node), 30)


async def test_all_parts_outlive_a_redis_that_is_silent_and_then_gone(database: Database, tmp_path: Path) -> None:
    with own_valkey() as valkey:
        async with running_node(database, valkey.url, tmp_path) as node:
            await _steward_works(node, "before")
            valkey.pause()
            await asyncio.sleep(3 * SILENCE_S + TIMEOUT_S)
            await _steward_works(node, "silent")
            valkey.resume()
            valkey.kill()
            await _steward_works(node, "gone")
            valkey.start()
            await _steward_works(node, "after")
            await until(lambda: _projected(node), 30)


async def _healthy(node: Node) -> bool:
    return (await node.anyone().get("/v1/tables")).is_success


async def _steward_works(node: Node, when: str) -> None:
    """The API takes seats, and the steward starts the hand."""
    table_id = await node.open_table()
    await node.seat(table_id, f"anna-{when}", f"boris-{when}")

    async def started() -> bool:
        found = await node.core.play.table(table_id)
        return found is not None and running(found[1]) is not None

    await until(started, 30)


async def _projected(node: Node) -> bool:
    heads = await node.core.store.part_heads()
    async with Generations.open(node.core.addresses.application) as generations:
        there = await generations.all()
        return bool(there) and all([await generations.vector(each.schema) == heads for each in there])


@pytest.mark.parametrize(
    "error",
    [
        Fault("store_unavailable", "TimeoutError"),
        TimeoutError(),
        ExceptionGroup("both", [Fault("store_unavailable", "x"), OSError("lost")]),
    ],
)
async def test_what_passes_by_waiting_ends_no_work(error: Exception) -> None:
    again = asyncio.Event()
    raised: list[Exception] = []

    async def work() -> None:
        if not raised:
            raised.append(error)
            raise error
        again.set()

    task = asyncio.create_task(kept("work", work, retry_s=0.0))
    async with asyncio.timeout(20):
        await again.wait()
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("code", sorted(LASTING))
async def test_what_does_not_pass_ends_it(code: str) -> None:
    async def work() -> None:
        raise ExceptionGroup("parts", [Fault("store_unavailable", "x"), Fault(code, "for good")])

    with pytest.raises(Fault, match="for good"):
        await kept("work", work, retry_s=0.0)
