"""Following an event stream (SSE) over drops: from the last number seen, until it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from services.bots.client import AWAY, FIRST_PAUSE_S, LAST_PAUSE_S, Client, Problem

SILENCE_S = 60.0
"""The service sends a comment more often than this; a stream that is silent for so long is dead."""


class Message(Struct, frozen=True):
    """One message: what kind (`snapshot`, `event`, `end`), its data, and its number where it has one."""

    event: str
    data: dict[str, Any]
    number: int | None = None


async def follow(client: Client, path: str) -> AsyncIterator[Message]:
    """The messages of the stream at `path`, resumed by number wherever it drops. Raises Problem where it is refused.

    It ends for nobody but who stops reading, or where the service says `end`.
    """
    last: int | None = None
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            async for message in _once(client, path, last):
                pause_s = FIRST_PAUSE_S
                last = message.number if message.number is not None else last
                yield message
        except Problem as problem:
            if problem.status not in AWAY:
                raise
        except httpx.TransportError:
            pass
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LAST_PAUSE_S)


async def _once(client: Client, path: str, last: int | None) -> AsyncIterator[Message]:
    headers: Mapping[str, str] = {**client.headers, "Accept": "text/event-stream"}
    if last is not None:
        headers = {**headers, "Last-Event-ID": str(last)}
    timeout = httpx.Timeout(10.0, read=SILENCE_S)
    async with client.http.stream("GET", path, headers=dict(headers), timeout=timeout) as response:
        if not response.is_success:
            body = await response.aread()
            raise Problem(response.status_code, _json(body))
        event, number, data = "message", None, ""
        async for line in response.aiter_lines():
            field, _, value = line.partition(": ")
            match field:
                case "event":
                    event = value
                case "id":
                    number = int(value)
                case "data":
                    data += value
                case "" if data:
                    yield Message(event, msgspec.json.decode(data), number)
                    event, number, data = "message", None, ""
                case _:
                    pass


def _json(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
