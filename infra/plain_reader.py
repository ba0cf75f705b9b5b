"""Plain references for what reads the log: one psycopg connection that fetches rows. Nothing is checked or folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import psycopg

from infra.store.chain import part_of
from infra.store.connect import STORE_SETTINGS, application_conninfo
from infra.store.queries import query

READ_STREAM = query("read_stream")
PARTS_AT_ONCE = 8
ROWS = """
select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
from store.event
where part >= %s and part < %s
order by part, pos
"""


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


def read_and_decode(url: str, parts: int) -> int:
    """Read all events of a log of so many parts and decode each body; how many there were."""
    decode = msgspec.json.Decoder().decode
    events = 0
    with psycopg.connect(application_conninfo(url, STORE_SETTINGS), autocommit=True) as connection:
        cursor = connection.cursor(binary=True)
        for first in range(0, parts, PARTS_AT_ONCE):
            cursor.execute(ROWS, (first, first + PARTS_AT_ONCE), prepare=True)
            rows = cursor.fetchall()
            for row in rows:
                decode(row[8])
            events += len(rows)
    return events
