"""What a simulation of bad days does to the embedded servers. Their supervisor starts again what is gone."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import psutil
from psycopg import AsyncConnection

from infra.embedded.note import read_note
from infra.faults import Fault
from infra.store.connect import Unavailable, reason

PROGRAMS = {"postgres": "postgres", "redis": "valkey-server"}

ENDED = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < %(share)s
"""
ANY = """
select pid from pg_stat_activity
where pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit 1
"""


def kill_server(home: Path, name: str) -> bool:
    """Kill (-9) `postgres` or `redis` of the folder `home`; False where it does not run just now."""
    for pid in read_note(home).servers:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.name() == PROGRAMS[name]:
                process.kill()
                return True
    return False


async def end_backends(owner_url: str, share: float) -> int:
    """Have Postgres end about this share of its connections; how many. Raises Fault(`store_unavailable`)."""
    return await _asked(owner_url, ENDED, {"share": share}) or 0


async def crash_backend(owner_url: str) -> bool:
    """Kill (-9) the process of a connection: Postgres then ends all of them and recovers, as after a crash."""
    pid = await _asked(owner_url, ANY, {})
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return True


async def _asked(owner_url: str, query: str, given: dict[str, float]) -> int | None:
    try:
        async with await AsyncConnection.connect(owner_url, autocommit=True, connect_timeout=5) as owner:
            row = await (await owner.execute(query.encode(), given)).fetchone()
    except Unavailable as error:
        raise Fault("store_unavailable", reason(error)) from error
    return None if row is None else int(row[0])
