"""Which processes of the service are on a database: each holds a connection that says what it runs, and where.

A connection is there for exactly as long as its process reaches Postgres, however that ends; an API that nobody uses
has no other.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence

import psycopg
from psycopg import AsyncConnection, conninfo

from infra.faults import Fault
from infra.store.connect import APP_ROLE, Unavailable, application_conninfo, reason

BEAT_S = 1.0
TIMEOUT_S = 5.0
LONGEST_NAME = 63
"""Postgres cuts an `application_name` here."""
OTHERS = b"""
select application_name, coalesce(host(client_addr), 'this machine'), count(*)
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    and application_name is distinct from %(mine)s
    and (application_name like 'khrap%%' or usename in (%(role)s, session_user))
  group by 1, 2 order by 1, 2
"""


def named(url: str, name: str) -> str:
    """The connection string of `url` whose sessions bear this name."""
    return conninfo.make_conninfo(url, application_name=name[:LONGEST_NAME])


def presence_name(parts: Sequence[str]) -> str:
    """What a process with these parts is called, with its number and machine."""
    return f"khrap {'+'.join(parts)} {os.getpid()}@{socket.gethostname()}"


async def be_present(url: str, name: str) -> None:
    """Hold the connection until cancelled. Raises Fault(`store_unavailable`) where it is lost."""
    try:
        async with await AsyncConnection.connect(application_conninfo(named(url, name)), autocommit=True) as connection:
            while True:
                await connection.execute("select")
                await asyncio.sleep(BEAT_S)
    except Unavailable as error:
        raise Fault("store_unavailable", f"the process cannot be seen in the database: {reason(error)}") from error


async def others(url: str, mine: str) -> list[str]:
    """The service's sessions on this database but those named `mine`, as text for a person. Raises Fault."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            async with await AsyncConnection.connect(application_conninfo(url), autocommit=True) as connection:
                # As who we logged in: nobody is told of the sessions of a login that is not his.
                await connection.execute("set role none")
                found = await connection.execute(OTHERS, {"mine": mine, "role": APP_ROLE})
                return [_told(*row) for row in await found.fetchall()]
    except (*Unavailable, TimeoutError, psycopg.Error) as error:
        raise Fault("store_unavailable", f"it cannot be seen who is connected: {reason(error)}") from error


def _told(name: str, where: str, count: int) -> str:
    return f"{name or 'a session without a name'} from {where} ({count} connections)"
