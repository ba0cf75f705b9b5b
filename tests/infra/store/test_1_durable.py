"""Promise 1, the hard way: the whole server is killed, stopped and gone."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator

import pytest
import structlog
from psycopg import sql

from infra.faults import Fault
from infra.store import Append, Appended, Duplicate, EventStore, StreamHead
from infra.store.migrate import migrate
from tests.conftest import _execute, _name, with_database
from tests.infra.store.own_server import OwnServer, own_server
from tests.infra.store.streams import command, event, new_stream, until, write

log = structlog.get_logger(__name__)


async def insist(store: EventStore, given: Append) -> StreamHead:
    """Send it again and again until it is known to be stored, as a client does with the same Idempotency-Key."""
    while True:
        try:
            verdict = await store.append(given)
        except Fault:
            log.info("sent_again")
        else:
            if isinstance(verdict, Appended):
                return verdict.heads[0]
            assert isinstance(verdict, Duplicate)
            return StreamHead(verdict.events[-1].stream, verdict.events[-1].seq, verdict.events[-1].hash)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    """A server of this module's own."""
    with own_server() as running:
        yield running


@pytest.fixture
async def url(server: OwnServer) -> str:
    """A migrated database of it, which runs when a test begins."""
    server.start()
    name = _name()
    _execute(server.url, sql.SQL("create database {}").format(sql.Identifier(name)))
    await migrate(with_database(server.url, name))
    return with_database(server.url, name)


async def test_1_what_was_acknowledged_outlives_the_server(server: OwnServer, url: str) -> None:
    """kill -9 of the server amid appends; it comes back, and so do the writers, by themselves."""
    acknowledged: list[bytes] = []
    counts = [0] * 16
    enough = asyncio.Event()

    async def play(store: EventStore, number: int) -> None:
        head = new_stream()
        while not enough.is_set():
            given = command((head, [event()]))
            head = await insist(store, given)
            acknowledged.append(given.command_id)
            counts[number] += 1

    async with await EventStore.open(url) as store:
        players = [asyncio.create_task(play(store, number)) for number in range(len(counts))]
        for _ in range(2):
            goals = [count + 5 for count in counts]
            await until(lambda goals=goals: all(map(int.__ge__, counts, goals)), 60)  # type: ignore[misc]
            server.kill()
            killed_with = set(acknowledged)
            await asyncio.to_thread(server.start)
            stored = {each.command_id for each in await store.read_parts(dict.fromkeys(range(256), 0), 1_000_000)}
            assert killed_with <= stored
        enough.set()
        await asyncio.gather(*players)
        walked = await store.verify()
    assert walked.is_intact
    assert walked.events == len(acknowledged) == len(set(acknowledged))


async def test_1_a_server_that_is_gone_is_a_fault_and_comes_back_by_itself(server: OwnServer, url: str) -> None:
    async with await EventStore.open(url) as store:
        head = await write(store, new_stream(), 1)
        server.kill()
        started = time.monotonic()
        appends = [store.append(command((new_stream(), [event()]))) for _ in range(50)]
        answers = await asyncio.gather(*appends, store.head(head.stream), return_exceptions=True)
        assert {answer.code for answer in answers if isinstance(answer, Fault)} == {"store_unavailable"}
        assert all(isinstance(answer, Fault) for answer in answers)
        assert 2 < time.monotonic() - started < 12
        await asyncio.to_thread(server.start)
        assert (await write(store, head, 1)).seq == 2
        assert (await store.verify()).is_intact


async def test_1_a_server_that_hangs_is_a_fault_and_nothing_is_stored_twice(server: OwnServer, url: str) -> None:
    """All its processes stand still for longer than anyone waits: what was sent is in doubt until it is sent again."""
    async with await EventStore.open(url) as store:
        head = await write(store, new_stream(), 1)
        given = command((head, [event()]))
        server.signal(signal.SIGSTOP)
        with pytest.raises(Fault, match="store_unavailable"):
            await store.append(given)
        server.signal(signal.SIGCONT)
        await store.append(given)
        assert [each.command_id for each in await store.read_stream(head.stream)][1:] == [given.command_id]


async def test_1_a_store_that_is_not_there_does_not_open(server: OwnServer, url: str) -> None:
    server.kill()
    with pytest.raises(Fault, match="store_unavailable"):
        await EventStore.open(url)
