"""A response that is an event stream: it ends when the client goes or signs out; one that does not read is let go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from litestar import Request, Response
from litestar.types import ASGIApp, Receive, Scope, Send

from infra.faults import Fault
from infra.telemetry import logger
from services.api.auth import session_cookie, verified_of
from services.api.house import house
from services.api.problems import Rejection
from services.live.messages import end
from services.live.mistakes import told
from services.live.streams import Holder

SEND_S = 20.0
"""A client that takes nothing for so long is let go; it resumes by number."""
SIGNED_IN_S = 2.0
"""How often it is looked whether the session that opened a stream goes on."""

log = logger("api")


class EventStream(Response[None]):
    """Chunks of `text/event-stream`. What the source raises before its first chunk is answered as a problem."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        super().__init__(None)
        self._chunks = chunks

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **_: Any) -> ASGIApp:  # type: ignore[override]
        """The framework's: what is run to answer."""
        return partial(self._stream, request)

    async def _stream(self, request: Request[Any, Any, Any], scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._chunks) as chunks:
            first = await anext(chunks)
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")],
                }
            )
            gone = asyncio.create_task(_until_gone(receive))
            sending = asyncio.create_task(_send_all(first, chunks, send))
            signed_out = asyncio.create_task(_until_signed_out(request))
            tasks = {gone, sending, signed_out}
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            if done == {signed_out}:
                with suppress(TimeoutError):
                    await _send(send, end("signed_out"))
                    await _send(send, b"", more=False)


async def _send_all(first: bytes, chunks: AsyncIterator[bytes], send: Send) -> None:
    try:
        await _send(send, first)
        async for chunk in chunks:
            await _send(send, chunk)
        await _send(send, b"", more=False)
    except TimeoutError:
        log.info("stream_given_up", seconds=SEND_S)
    except Exception as error:  # noqa: BLE001  # the stream breaks off, and its client resumes by number
        log.error("stream_failed", **told(error))


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(SEND_S):
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def _until_signed_out(request: Request[Any, Any, Any]) -> None:
    """Never over where no session opened the stream: a token's own end is the source's business."""
    verified = verified_of(request)
    session = None if verified is None or session_cookie(request) is None else verified.jti
    while session is not None:
        await asyncio.sleep(SIGNED_IN_S)
        with suppress(Fault):  # the store is away; it is asked again
            if await house(request).ends.is_ended(session):
                return
    await asyncio.Event().wait()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def last_seen(request: Request[Any, Any, Any], after: int | None) -> int | None:
    """The last event that the client has: `Last-Event-ID`, which browsers send, or `after`. Raises Rejection."""
    header = request.headers.get("last-event-id")
    if header is None:
        return after
    if not header.isascii() or not header.isdecimal() or len(header) > 15:
        raise Rejection("invalid", "header Last-Event-ID: the number of an event")
    return int(header)


def holder_of(request: Request[Any, Any, Any]) -> Holder:
    """What the caller's streams are counted under: his name, or his address where he has none."""
    verified = verified_of(request)
    if verified is not None:
        return Holder(verified.caller.subject, has_token=True)
    return Holder.at(request.client.host if request.client else "somewhere")
