"""Plain SHA-256 over the log's bytes as Postgres sends them: what a walk of the log is measured beside."""

from __future__ import annotations

import time
from hashlib import sha256

from psycopg import Connection

from infra.store.connect import application_conninfo

EVENTS = """
copy (
  select pos, seq, version, idx, command_id, hash, stream_id, type, body, meta from store.event
) to stdout (format binary)
"""


def plain_digest(url: str) -> tuple[int, int, float]:
    """How many events and bytes were read, and in how many seconds. Each event costs one update of one digest."""
    with Connection.connect(application_conninfo(url, {"role": "khrap_app"}), autocommit=True) as connection:
        began = time.perf_counter()
        digest, events, size = sha256(), -1, 0  # the last row is COPY's end
        with connection.cursor().copy(EVENTS) as rows:
            for row in rows:
                digest.update(row)
                events += 1
                size += len(row)
        digest.hexdigest()
        return events, size, time.perf_counter() - began
