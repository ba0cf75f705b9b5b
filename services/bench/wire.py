"""HTTP/1.1 with as little as can be: a load generator must not be what is measured.

One request at a time on a connection that is kept alive. httpx takes about as long for a request as the service
takes to answer it.
"""

from __future__ import annotations

import asyncio
from typing import Self

from httptools import HttpResponseParser


class WireLost(Exception):
    """The connection ended before the answer did."""


class Wire(asyncio.Protocol):
    """A connection to `host`. `headers` go with every request: whole lines, each with its line end."""

    def __init__(self, host: str, headers: str) -> None:
        self._head = f" HTTP/1.1\r\nHost: {host}\r\n{headers}"
        self._parser = HttpResponseParser(self)
        self._body: list[bytes] = []
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, host: str, port: int, headers: str = "") -> Self:
        """A connection to a port of this machine or another. Raises OSError."""
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(lambda: cls(f"{host}:{port}", headers), host, port)
        return wire

    async def get(self, path: str) -> tuple[int, bytes]:
        """Status and body. Raises WireLost."""
        return await self._send(f"GET {path}{self._head}\r\n".encode())

    async def post(self, path: str, body: bytes, key: str) -> tuple[int, bytes]:
        """Status and body, for a JSON body under an Idempotency-Key. Raises WireLost."""
        return await self._send(
            f"POST {path}{self._head}Content-Type: application/json\r\nIdempotency-Key: {key}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    async def _send(self, request: bytes) -> tuple[int, bytes]:
        assert self._answer is None, "one request at a time"
        if self._transport is None or self._transport.is_closing():
            raise WireLost
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """asyncio's."""
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio's."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WireLost())

    def on_body(self, data: bytes) -> None:
        """httptools's."""
        self._body.append(data)

    def on_message_complete(self) -> None:
        """httptools's."""
        answer, self._answer = self._answer, None
        body = b"".join(self._body)
        self._body.clear()
        if answer is not None and not answer.done():
            answer.set_result((self._parser.get_status_code(), body))
