"""HTTP/1.1 with as little as can be: one request at a time on a connection that is kept alive, or one endless answer.

Bots and the load generator share a machine with what they play against: httpx takes three times as long over an action
as the service does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Self, cast

from httptools import HttpParserError, HttpResponseParser
from msgspec import Struct

OK = 200


class WireLost(Exception):
    """The connection ended, or could not be made, before there was an answer."""


class Answer(Struct, frozen=True):
    """An answer: its status, the value of Retry-After where it has one, and the body."""

    status: int
    retry_after: str
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300


class NotStreamed(Exception):
    """An answer in place of a stream."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Wire(asyncio.Protocol):
    """A connection to a host. `headers` go with every request: whole lines, each with its line end."""

    def __init__(self, host: str, headers: str) -> None:
        self._head = f" HTTP/1.1\r\nHost: {host}\r\n{headers}"
        self._parser = HttpResponseParser(self)
        self._retry_after = ""
        self._body: list[bytes] = []
        self._answer: asyncio.Future[Answer] | None = None
        self._chunks: asyncio.Queue[bytes | Answer | None] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, host: str, port: int, headers: str = "") -> Self:
        """A connection to a port. Raises WireLost."""
        loop = asyncio.get_running_loop()
        try:
            _, wire = await loop.create_connection(lambda: cls(f"{host}:{port}", headers), host, port)
        except OSError as error:
            raise WireLost(str(error)) from error
        return wire

    @property
    def is_open(self) -> bool:
        """Whether a request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    async def get(self, path: str) -> Answer:
        """The answer. Raises WireLost."""
        return await self._send(f"GET {path}{self._head}\r\n".encode())

    async def post(self, path: str, body: bytes, key: str) -> Answer:
        """The answer to a JSON body under an Idempotency-Key. Raises WireLost."""
        return await self._send(
            f"POST {path}{self._head}Content-Type: application/json\r\nIdempotency-Key: {key}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )

    async def stream(self, path: str, headers: str, silence_s: float) -> AsyncIterator[bytes]:
        """The body as it comes, until it ends; the wire is closed then.

        Raises NotStreamed with an answer that is no success, WireLost, also where nothing comes for `silence_s`.
        """
        self._chunks = asyncio.Queue()
        self._write(f"GET {path}{self._head}Accept: text/event-stream\r\n{headers}\r\n".encode())
        try:
            while True:
                async with asyncio.timeout(silence_s):
                    chunk = await self._chunks.get()
                if isinstance(chunk, Answer):
                    if chunk.is_success:
                        return
                    raise NotStreamed(chunk)
                if chunk is None:
                    raise WireLost("dropped")
                yield chunk
        except TimeoutError:
            raise WireLost("silence") from None
        finally:
            self.close()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    async def _send(self, request: bytes) -> Answer:
        assert self._answer is None, "one request at a time"
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answer = answer
        try:
            self._write(request)
            return await answer
        except asyncio.CancelledError:
            self.close()  # what is still to come would be taken for the next request's answer
            raise
        finally:
            self._answer = None

    def _write(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise WireLost("closed")
        self._transport.write(data)

    # --- asyncio's and httptools's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name

    def data_received(self, data: bytes) -> None:
        """Some of an answer."""
        try:
            self._parser.feed_data(data)
        except HttpParserError:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, whoever ended it."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WireLost("dropped"))
        if self._chunks is not None:
            self._chunks.put_nowait(None)

    def on_message_begin(self) -> None:
        """A new answer."""
        self._retry_after = ""
        self._body.clear()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        if name.lower() == b"retry-after":
            self._retry_after = value.decode("latin-1")

    def on_body(self, data: bytes) -> None:
        """Some of the body."""
        if self._chunks is not None and self._parser.get_status_code() == OK:
            self._chunks.put_nowait(data)
        else:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """All of it."""
        answer = Answer(self._parser.get_status_code(), self._retry_after, b"".join(self._body))
        if self._chunks is not None:
            self._chunks.put_nowait(answer)
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
