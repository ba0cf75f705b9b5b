"""What the HTTP server leaves to us: how large a request's head may be and how long it may take to come, and that an
answer leaves in one piece.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from infra.metrics import CONNECTIONS

MAX_HEAD = 64 * 1024
"""Bytes of request line and headers."""
REQUEST_S = 20.0
"""From a connection's beginning, or a request's first byte, to the end of the request."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


HEAD = b"HTTP/"
"""How the head of an answer begins."""


class _Gathering:
    """A transport that sends an answer's head and body, which come as two writes, in one: every send costs a system
    call and wakes the reader. What is written after them, an event of a stream, is sent at once.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send; a head with what else is written now, at the latest when the loop has come round."""
        if not self._parts:
            if not data.startswith(HEAD):
                self._transport.write(data)
                return
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send what was written."""
        if self._parts:
            data = b"".join(self._parts)
            self._parts.clear()
            self._transport.write(data)

    def close(self) -> None:
        """Send what was written, then close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class BoundedProtocol(HttpToolsProtocol):
    """A connection whose requests come whole, in time and with a head of bounded size, or that is closed."""

    _out: _Gathering
    _head = 0
    _in_head = True
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        CONNECTIONS.inc()
        self._out = _Gathering(transport, self.loop)
        super().connection_made(cast(asyncio.Transport, self._out))
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        CONNECTIONS.dec()
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head, self._in_head = 0, True
        self._expect()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._arrived()
        self._head, self._in_head = 0, True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._out.flush()
        super().on_response_complete()

    def _expect(self) -> None:
        self._arrived()
        self._late = self.loop.call_later(REQUEST_S, self._give_up)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
