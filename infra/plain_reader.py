"""The plain reference of the replay benchmark: one psycopg connection that fetches rows, and does nothing with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from infra.store.chain import part_of
from infra.store.connect import STORE_SETTINGS, application_conninfo
from infra.store.queries import query

READ_STREAM = query("read_stream")


class PlainReader:
    """Reads whole streams by the store's own statement: prepared, binary, in plain tuples."""

    def __init__(self, connection: psycopg.Connection[Any], parts: int) -> None:
        self._connection = connection
        self._parts = parts

    def fetch(self, streams: Sequence[str]) -> int:
        """Fetch all events of these streams; how many rows there were."""
        rows = 0
        for stream in streams:
            cursor = self._connection.cursor(binary=True)
            cursor.execute(READ_STREAM, (part_of(stream, self._parts), stream, 0, None), prepare=True)
            rows += len(cursor.fetchall())
        return rows


@contextmanager
def plain_reader(url: str, parts: int) -> Iterator[PlainReader]:
    """One connection of the application's role, for as long as the block runs."""
    with psycopg.connect(application_conninfo(url, STORE_SETTINGS), autocommit=True) as connection:
        yield PlainReader(connection, parts)
