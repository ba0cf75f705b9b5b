"""One row in Postgres that says when a steward last ran. Source: rulebook T11."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from infra.faults import Fault
from infra.store.connect import Unavailable, connect
from infra.store.migrate import Folder

SQL = Path(__file__).parent / "sql"
FOLDER = Folder("steward", SQL / "migrations")
LAST = (SQL / "queries" / "last.sql").read_bytes()
NOTE = (SQL / "queries" / "note.sql").read_bytes()
TIMES = (SQL / "queries" / "times.sql").read_bytes()


class Beat:
    """The steward's beat, on a connection of its own, made when it is first needed and anew after it was lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: AsyncConnection[Any] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def last_ms(self) -> int | None:
        """When a steward last ran, in milliseconds since 1970, or None where none ever did. Raises Fault."""
        row = await self._ask(LAST, ())
        return None if row is None else int(row[0])

    async def note(self, at_ms: int) -> None:
        """Note that a steward ran at `at_ms`, milliseconds since 1970; an older time changes nothing. Raises Fault."""
        await self._ask(NOTE, (at_ms,))

    async def times(self) -> tuple[int, int | None]:
        """Postgres's time, and when a steward last ran, in milliseconds since 1970. Raises Fault."""
        row = await self._ask(TIMES, ())
        assert row is not None
        return int(row[0]), None if row[1] is None else int(row[1])

    async def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    async def _ask(self, query: bytes, parameters: tuple[int, ...]) -> tuple[Any, ...] | None:
        """The first row, if any. A lost connection is replaced once: both queries may be asked again."""
        async with self._one_at_a_time:
            try:
                return await self._once(query, parameters)
            except Unavailable:
                await self.close()
            try:
                return await self._once(query, parameters)
            except Unavailable as error:
                await self.close()
                raise Fault("store_unavailable", f"the steward's beat is away: {str(error).strip()}") from error

    async def _once(self, query: bytes, parameters: tuple[int, ...]) -> tuple[Any, ...] | None:
        if self._connection is None:
            self._connection = await connect(self._url)
        cursor = await self._connection.execute(query, parameters)
        return None if cursor.description is None else await cursor.fetchone()
