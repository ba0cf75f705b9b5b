"""A connection may not hold memory or a place for ever: heads have a size, requests a time."""

from __future__ import annotations

import asyncio
import socket
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
async def served(trusted_proxies: str | None = None, app: Any = says_who) -> AsyncIterator[tuple[str, int]]:
    server = HttpServer(app, "127.0.0.1", 0, trusted_proxies)
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


async def test_head_and_body_leave_in_one_piece_and_what_follows_at_once() -> None:
    """The app itself reads what the client gets, so that the loop cannot come round between a write and a read."""
    client = socket.socket()
    client.settimeout(10)
    pieces: list[bytes] = []
    over = asyncio.Event()

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await says_who(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await asyncio.sleep(0)
        pieces.append(client.recv(4096))
        await send({"type": "http.response.body", "body": b"second", "more_body": True})
        pieces.append(client.recv(4096))
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        pieces.append(client.recv(4096))
        client.close()
        over.set()

    async with served(app=streaming) as where:
        await asyncio.to_thread(client.connect, where)
        client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
        async with asyncio.timeout(10):
            await over.wait()
    assert pieces[0].startswith(b"HTTP/1.1 200")
    assert pieces[0].endswith(b"5\r\nfirst\r\n")
    assert pieces[1:] == [b"6\r\nsecond\r\n", b"0\r\n\r\n"]


@pytest.mark.parametrize(("trusted", "who"), [(None, b"127.0.0.1"), ("127.0.0.1", b"10.0.0.7")])
async def test_whom_an_address_is_believed_of(trusted: str | None, who: bytes) -> None:
    async with served(trusted) as where:
        request = HEAD + b"x-forwarded-for: 10.0.0.7\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        assert (await sent(where, request)).endswith(who)
