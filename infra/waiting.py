"""`asyncio.wait_for` as of Python 3.12, on 3.11: there it may swallow a cancellation that comes as the result does.

A part that was told to stop then went on for ever, and the process that waited for it with it: the pool of Postgres
connections and the Redis client both wait so. Source: CPython issue 86296, whose mend was not brought back to 3.11.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any


async def wait_for(fut: Awaitable[Any], timeout: float | None) -> Any:  # noqa: ASYNC109 (its signature is given)
    """Wait for `fut`, for at most `timeout` seconds. Raises TimeoutError, having cancelled it."""
    if timeout is not None and timeout <= 0:
        fut = asyncio.ensure_future(fut)
        if fut.done():
            return fut.result()
        fut.cancel()
        try:
            await fut
        except asyncio.CancelledError as error:
            raise TimeoutError from error
        raise TimeoutError
    async with asyncio.timeout(timeout):
        return await fut


def mend() -> None:
    """Put it in the place of Python 3.11's."""
    if sys.version_info < (3, 12):
        asyncio.wait_for = wait_for  # type: ignore[assignment]
        asyncio.tasks.wait_for = wait_for  # type: ignore[assignment]
