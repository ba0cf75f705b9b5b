"""Following an event stream (SSE) over drops: from the last number seen, until it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from services.bots.client import AWAY, FIRST_PAUSE_S, LAST_PAUSE_S, Client, Problem
from services.bots.wire import NotStreamed, WireLost

SILENCE_S = 60.0
"""The service sends a comment more often than this; a stream that is silent for so long is dead."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Message(Struct, frozen=True):
    """One message: what kind (`snapshot`, `event`, `end`), its data, and its number where it has one."""

    event: str
    data: dict[str, Any]
    number: int | None = None


async def follow(client: Client, path: str, last: int | None = None) -> AsyncGenerator[Message]:
    """The messages of the stream at `path`, resumed by number wherever it drops. Raises Problem where it is refused.

    It begins after event `last`, or with a snapshot, and ends for nobody but who stops reading.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        chunks: AsyncGenerator[bytes] = client.stream(path, last, SILENCE_S)  # type: ignore[assignment]  # it is one
        rest = b""
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    *whole, rest = (rest + chunk).split(b"\n\n")
                    for block in whole:
                        message = _message(block)
                        if message is not None:
                            pause_s = FIRST_PAUSE_S
                            last = message.number if message.number is not None else last
                            yield message
        except NotStreamed as refused:
            if refused.answer.status not in AWAY:
                raise Problem(refused.answer) from None
        except WireLost:
            pass
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LAST_PAUSE_S)


def _message(block: bytes) -> Message | None:
    """One message of the stream; None for what is a comment or a setting alone."""
    event, number, data = "message", None, b""
    for line in block.split(b"\n"):
        field, _, value = line.partition(b": ")
        if field == b"data":
            data += value
        elif field == b"event":
            event = value.decode()
        elif field == b"id":
            number = int(value)
    return Message(event, _decode(data), number) if data else None
