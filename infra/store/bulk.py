"""Reading long stretches of the log, for who reads all of it.

In a thread, over a plain connection: the rows of 20,000 events come in hundreds of pieces, and to wait for each of them
on the event loop took as long as to read them. Meanwhile the loop's thread works on what was read before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import psycopg
from psycopg.rows import args_row

from infra.faults import Fault
from infra.store.arrays import Binary, int2s, int8s
from infra.store.connect import STORE_SETTINGS, AsItIs, Damaged, Unavailable, application_conninfo, damaged, reason
from infra.store.queries import query
from infra.store.reader import check_dense
from infra.store.types import StoredEvent

READ_STRETCH = query("read_stretch")
TIMEOUT = {"statement_timeout": "120000"}

Stretch = tuple[int, int, int]
"""A part, the position after which it begins, and the one with which it ends."""


class BulkReader:
    """One connection; one question at a time. Raises Fault("store_unavailable"), StoreGap at a hole."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect as the application's role."""
        return cls(await asyncio.to_thread(_connect, url))

    async def read(self, stretches: Sequence[Stretch]) -> list[StoredEvent]:
        """All events of these stretches, in order of part and position; their hashes are left out."""
        return await asyncio.to_thread(self._read, sorted(stretches))

    def _read(self, stretches: list[Stretch]) -> list[StoredEvent]:
        parts, afters, uptos = zip(*stretches, strict=True)
        try:
            cursor = self._connection.cursor(binary=True, row_factory=args_row(StoredEvent))
            cursor.execute(READ_STRETCH, (int2s(parts), int8s(afters), int8s(uptos)), prepare=True)
            events = cursor.fetchall()
        except Damaged as error:
            raise damaged(error) from error
        except Unavailable as error:
            raise Fault("store_unavailable", reason(error)) from error
        check_dense(stretches, events)
        return events

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


def _connect(url: str) -> psycopg.Connection[Any]:
    try:
        connection = psycopg.connect(application_conninfo(url, {**STORE_SETTINGS, **TIMEOUT}), autocommit=True)
    except Unavailable as error:
        raise Fault("store_unavailable", reason(error)) from error
    connection.adapters.register_dumper(Binary, AsItIs)
    return connection
