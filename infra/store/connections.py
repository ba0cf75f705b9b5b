"""Connections for reading, a few at a time.

psycopg's pool waits longer and longer between its attempts to reconnect, and so answers long after the server does.
Here whoever finds no idle connection connects, and learns at once whether the server is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from infra.store.connect import connect


class Connections:
    """At most `most` connections of the application's role, made when they are needed."""

    def __init__(self, url: str, most: int) -> None:
        self._url = url
        self._free = asyncio.Semaphore(most)
        self._idle: list[AsyncConnection[Any]] = []

    @asynccontextmanager
    async def one(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection of one's own. After an error it is closed, and the idle ones too: the server may be gone."""
        async with self._free:
            connection = self._idle.pop() if self._idle else await connect(self._url)
            try:
                yield connection
            except BaseException:
                await connection.close()
                await self.close()
                raise
            self._idle.append(connection)

    async def close(self) -> None:
        """Close the idle ones."""
        while self._idle:
            await self._idle.pop().close()
