"""Connections of the application's role, and what counts as the store being away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import AsyncConnection, conninfo
from psycopg.adapt import Dumper
from psycopg.pq import Format

from infra.faults import Fault
from infra.store.arrays import Binary

APP_ROLE = "khrap_app"

CONNECT_TIMEOUT_S = 5
LOCK_TIMEOUT_MS = 500
STATEMENT_TIMEOUT_MS = 10_000

SETTINGS = {
    # Whoever the URL names, the session works as the application's role: `role` is set with the connection, costs no
    # round trip, and RESET ROLE leads back to it. It is a guard against our own mistakes; the wall against injected SQL
    # is a URL that logs in as khrap_app itself, for whom this setting changes nothing.
    "role": APP_ROLE,
    # An acknowledged append is on the disk, whatever the server's default.
    "synchronous_commit": "on",
    "default_transaction_isolation": "read\\ committed",
    # Nobody waits for ever: for a part that another process holds, for a statement, for a dead process's transaction.
    "lock_timeout": str(LOCK_TIMEOUT_MS),
    "statement_timeout": str(STATEMENT_TIMEOUT_MS),
    "idle_in_transaction_session_timeout": str(STATEMENT_TIMEOUT_MS),
    # Every query of the store goes by a key. A young table's missing statistics must not suggest otherwise.
    "enable_seqscan": "off",
    "jit": "off",
    "timezone": "UTC",
}

STORE_SETTINGS = {
    **SETTINGS,
    # A key's order is what "the last event of a type" is found by. Without statistics Postgres takes a stream for short
    # and collects and sorts all of it instead: 150 ms for a table with 10,000 hands behind it, where this takes 1.
    "enable_bitmapscan": "off",
}

NETWORK = {
    # A server that vanished without a word is noticed in about 15 s rather than in hours.
    "keepalives_idle": "5",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}

Unavailable = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
    OSError,
)
"""The connection is lost, the server gave up on a statement (a time-out, a deadlock, a shutdown) or on a process that
stood still in a transaction, or it is a standby that we were left with: it may pass."""

Damaged = (
    psycopg.errors.DataCorrupted,
    psycopg.errors.IndexCorrupted,
    psycopg.errors.InternalError_,
    psycopg.errors.IoError,
    psycopg.errors.UndefinedFile,
)
"""Postgres cannot read what it has stored in some table or index. Some of these are among `Unavailable`, too."""


class AsItIs(Dumper):
    """A parameter that is in PostgreSQL's binary form already."""

    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def reason(error: BaseException) -> str:
    """What an error says, in one line and without the rows that PostgreSQL may quote in its details."""
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    lines = (said or str(error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def damaged(error: BaseException) -> Fault:
    """What is said of one of `Damaged`."""
    return Fault(
        "store_damaged", f"Postgres cannot read what it has stored: {reason(error)}; look at its log and its disk"
    )


def application_conninfo(url: str, settings: Mapping[str, str] = SETTINGS) -> str:
    """The connection string of a session that works as the application's role, with these settings."""
    given = conninfo.conninfo_to_dict(url)
    options = [str(given["options"])] if given.get("options") else []
    options += [f"-c {name}={value}" for name, value in settings.items()]
    known = {"connect_timeout": CONNECT_TIMEOUT_S, "application_name": "khrap", **NETWORK, **given}
    return conninfo.make_conninfo("", **{**known, "options": " ".join(options)})


async def connect(url: str) -> AsyncConnection[Any]:
    """A connection of the application's role, each statement a transaction of its own."""
    connection = await AsyncConnection.connect(application_conninfo(url, STORE_SETTINGS), autocommit=True)
    connection.adapters.register_dumper(Binary, AsItIs)
    return connection
