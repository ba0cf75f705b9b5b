"""A link that is cut, stalled or slowed, between a client and a server that says what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from services.chaos.proxy import Link


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


@pytest_asyncio.fixture
async def link() -> AsyncIterator[Link]:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, Link(("127.0.0.1", server.sockets[0].getsockname()[1])) as made:
        yield made


@asynccontextmanager
async def connected(link: Link) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
    yield reader, writer
    writer.close()


async def test_what_goes_in_comes_back_in_order(link: Link) -> None:
    async with connected(link) as (reader, writer):
        sent = b"".join(b"%06d" % n for n in range(50_000))
        writer.write(sent)
        assert await reader.readexactly(len(sent)) == sent


async def test_a_cut_breaks_what_is_open_and_what_comes_until_it_is_mended(link: Link) -> None:
    async with connected(link) as (reader, writer):
        writer.write(b"here")
        assert await reader.readexactly(4) == b"here"
        await link.cut()
        assert await ended(reader)
    async with connected(link) as (reader, _):
        assert await ended(reader)
    link.mend()
    async with connected(link) as (reader, writer):
        writer.write(b"again")
        assert await reader.readexactly(5) == b"again"


async def ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_a_stalled_link_is_silent_and_loses_nothing(link: Link) -> None:
    async with connected(link) as (reader, writer):
        link.stall()
        writer.write(b"later")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reader.read(1)
        link.flow()
        assert await reader.readexactly(5) == b"later"


async def test_two_cuts_at_once_need_two_to_mend_and_healing_mends_all(link: Link) -> None:
    await link.cut()
    await link.cut()
    link.mend()
    async with connected(link) as (reader, _):
        assert await ended(reader)
    link.stall()
    link.heal()
    async with connected(link) as (reader, writer):
        writer.write(b"well")
        assert await reader.readexactly(4) == b"well"


async def test_a_slow_link_takes_its_time_either_way(link: Link) -> None:
    link.delay_ms = 60
    async with connected(link) as (reader, writer):
        began = asyncio.get_running_loop().time()
        writer.write(b"slowly")
        assert await reader.readexactly(6) == b"slowly"
        assert asyncio.get_running_loop().time() - began >= 0.12
