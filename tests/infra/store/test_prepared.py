"""A call whose answer does not come whole: it fails as a lost connection does, and nothing else waits for it.

Once it was taken for a refusal of the server's, whose command is not stored; and once it stopped the whole process.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg import conninfo

from infra.store.prepared import PreparedStatement
from tests.conftest import Database

READY = 6
"""The length of the server's last word: that it is ready for the next call, having committed this one."""


class Relay:
    """Passes a connection on, and from `withhold` on all but the last word of an answer."""

    def __init__(self, url: str) -> None:
        self._given = conninfo.conninfo_to_dict(url)
        self._withholds = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.writer: asyncio.StreamWriter | None = None
        self.withheld = asyncio.Event()
        self.url = ""

    def withhold(self) -> None:
        self._withholds = True

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = str(self._given["host"]), str(self._given.get("port", 5432))
        if host.startswith("/"):
            there, to = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            there, to = await asyncio.open_connection(host, int(port))
        self.writer = writer
        self._tasks = {
            asyncio.create_task(self._pump(reader, to)),
            asyncio.create_task(self._pump(there, writer, True)),
        }

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: bool = False) -> None:
        while data := await reader.read(65_536):
            if back and self._withholds:
                writer.write(data[:-READY])
                self.withheld.set()
            else:
                writer.write(data)
        writer.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def relay(url: str) -> AsyncIterator[Relay]:
    made = Relay(url)
    server = await asyncio.start_server(made.take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    made.url = conninfo.make_conninfo(url, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
    async with server:
        yield made
        await made.close()


@pytest.fixture
async def relayed(database: Database) -> AsyncIterator[tuple[Relay, PreparedStatement]]:
    async with relay(database.app_url) as made:
        prepared = await PreparedStatement.open(made.url, b"select 1::int4")
        assert (await prepared([], 5.0)).get_value(0, 0) == b"\0\0\0\1"
        yield made, prepared
        await prepared.close()


async def test_1_a_connection_that_is_lost_before_the_last_word_is_lost(
    relayed: tuple[Relay, PreparedStatement],
) -> None:
    made, prepared = relayed
    made.withhold()
    asking = asyncio.create_task(prepared([], 30.0))
    await made.withheld.wait()
    assert made.writer is not None
    made.writer.close()
    with pytest.raises(psycopg.OperationalError):
        await asking


async def test_1_an_answer_without_its_last_word_is_waited_for_and_stops_nobody_else(
    relayed: tuple[Relay, PreparedStatement],
) -> None:
    made, prepared = relayed
    made.withhold()
    asking = asyncio.create_task(prepared([], 0.5))
    await made.withheld.wait()
    with pytest.raises(TimeoutError):
        await asking


async def test_1_a_lost_connections_socket_is_not_watched_any_more_when_its_number_is_anothers(
    relayed: tuple[Relay, PreparedStatement],
) -> None:
    # libpq closes it as it reads the end; to stop watching it later would stop whoever got the number meanwhile.
    made, prepared = relayed
    loop = asyncio.get_running_loop()
    number = prepared.connection.pgconn.socket
    ours, theirs = socket.socketpair()
    heard = asyncio.Event()
    made.withhold()
    asking = asyncio.create_task(prepared([], 30.0))

    def take_the_number() -> None:
        try:
            os.fstat(number)
        except OSError:
            os.dup2(ours.fileno(), number)
            loop.add_reader(number, heard.set)
        else:
            loop.call_soon(take_the_number)

    await made.withheld.wait()
    assert made.writer is not None
    made.writer.close()
    take_the_number()
    with pytest.raises(psycopg.OperationalError):
        await asking
    theirs.send(b"!")
    async with asyncio.timeout(10):
        await heard.wait()
    loop.remove_reader(number)
    os.close(number)
    ours.close()
    theirs.close()
