"""The plain reference of the rebuild benchmark: one connection that reads the log's rows and decodes their bodies.

It is the least that any reader of the log can do: nothing is checked, folded or written.
"""

from __future__ import annotations

import msgspec
import psycopg

from infra.store.connect import STORE_SETTINGS, application_conninfo

PARTS_AT_ONCE = 8
ROWS = """
select part, pos, stream_id, seq, type, version, uuid_send(command_id), idx, body, meta, hash
from store.event
where part >= %s and part < %s
order by part, pos
"""


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
