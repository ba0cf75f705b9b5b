"""A connection may not hold memory or a place for ever: heads have a size, requests a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from services import bounded
from services.server import HttpServer


async def says_who(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body and answers with the client's address."""
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    while (await receive()).get("more_body"):
        pass
    body = str(scope["client"][0]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def served(trusted_proxies: str | None = None) -> AsyncIterator[tuple[str, int]]:
    server = HttpServer(says_who, "127.0.0.1", 0, trusted_proxies)
    task = asyncio.create_task(server.run())
    await server.ready()
    where = urlsplit(server.url)
    yield str(where.hostname), int(where.port or 0)
    server.stop()
    await task


async def sent(where: tuple[str, int], data: bytes) -> bytes:
    """All that comes back until the connection is closed, for at most ten seconds."""
    reader, writer = await asyncio.open_connection(*where)
    try:
        writer.write(data)
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


HEAD = b"POST / HTTP/1.1\r\nhost: here\r\n"


async def test_a_head_without_end_is_cut_off() -> None:
    async with served() as where:
        answer = await sent(where, HEAD + b"x: " + b"y" * 200_000)
    assert answer.startswith(b"HTTP/1.1 431") or answer == b""


@pytest.mark.parametrize("half", [b"", HEAD, HEAD + b"content-length: 10\r\n\r\nhalf"])
async def test_a_request_that_does_not_come_whole_is_given_up(half: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "REQUEST_S", 0.2)
    async with served() as where:
        assert b"200 OK" not in await sent(where, half)


async def test_whole_requests_on_one_connection_are_answered_one_after_another() -> None:
    async with served() as where:
        reader, writer = await asyncio.open_connection(*where)
        for _ in range(3):
            writer.write(HEAD + b"content-length: 4\r\n\r\nbody")
            answer = await reader.readuntil(b"127.0.0.1")
            assert answer.startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize(("trusted", "who"), [(None, b"127.0.0.1"), ("127.0.0.1", b"10.0.0.7")])
async def test_whom_an_address_is_believed_of(trusted: str | None, who: bytes) -> None:
    async with served(trusted) as where:
        request = HEAD + b"x-forwarded-for: 10.0.0.7\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        assert (await sent(where, request)).endswith(who)
