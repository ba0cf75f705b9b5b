"""Leases in Postgres: each name is done by one of the processes that can, and by another soon after that one is gone.

A lease runs out by Postgres's clock, so a process that is killed, or stopped, or cut off loses it within `LEASE_S`. It
may not know it yet and go on for a moment: what two holders must never both do needs a check where it is done (a
checkpoint that moves from where it was, a command that is done once).
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from infra.faults import Fault
from infra.store.connect import Unavailable, application_conninfo, reason
from infra.store.migrate import Folder

SQL = Path(__file__).parent / "sql"
FOLDER = Folder("leases", SQL / "migrations")
LEASE_S = 3.0
"""How long a lease lasts; ask at a third of it."""
TIMEOUT_S = 5.0

_QUERIES = {path.stem: path.read_bytes() for path in (SQL / "queries").glob("*.sql")}


class Leases:
    """One process's leases, on a connection of its own, made when it is first needed and anew after it was lost."""

    def __init__(self, url: str, first: Sequence[str] = ()) -> None:
        """`first` is shared out first, and so stays where it is as long as that process lives; all say the same."""
        self._url = url
        self._first = first
        self._connection: AsyncConnection[Any] | None = None
        self.holder = uuid.uuid4().hex
        """The name of this process among the others."""

    async def share(self, names: Collection[str], rates: Mapping[str, int] | None = None) -> frozenset[str]:
        """Say that this process can do `names`, and learn which of them it holds until it asks again, or `LEASE_S`.

        All processes that can do the same share it evenly; what falls to another is let go of here, so call it where
        nothing of it is under way. `rates` are for the onlooker, in events a second. Raises Fault("store_unavailable").
        """
        return frozenset(await self._reached(self._share(sorted(names), rates or {})))

    async def _share(self, names: list[str], rates: Mapping[str, int]) -> list[str]:
        mine = {"holder": self.holder, "seconds": LEASE_S}
        await self._execute("enrol", {**mine, "names": names})
        wanted = shared(await self._execute("candidates", {}), self._first)[self.holder]
        await self._execute("release", {**mine, "names": wanted})
        asked = {**mine, "names": wanted, "rates": [rates.get(name, 0) for name in wanted]}
        return [name for (name,) in await self._execute("hold", asked)]

    async def alive(self) -> list[str]:
        """The names that some process, this one or another, does or stands ready for. Raises Fault."""

        async def ask() -> list[str]:
            return sorted({name for name, _ in await self._execute("alive", {})})

        return await self._reached(ask())

    async def close(self) -> None:
        """Give up all, so that others need not wait, and the connection."""
        if self._connection is None:
            return
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._execute("retire", {"holder": self.holder})
        except (*Unavailable, TimeoutError):
            pass  # it all runs out by itself
        await self._disconnect()

    async def _reached(self, asking: Awaitable[list[str]]) -> list[str]:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await asking
        except (*Unavailable, TimeoutError) as error:
            await self._disconnect()
            raise Fault("store_unavailable", f"the leases are away: {reason(error)}") from error

    async def _execute(self, query: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = await AsyncConnection.connect(application_conninfo(self._url), autocommit=True)
            # Who holds what need not be on the disk: after a crash of the server everybody asks again.
            await self._connection.execute("set synchronous_commit = off")
        cursor = await self._connection.execute(_QUERIES[query], given)
        return [] if cursor.description is None else await cursor.fetchall()

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


def shared(candidates: Iterable[tuple[Any, ...]], first: Sequence[str] = ()) -> defaultdict[str, list[str]]:
    """Holder → what falls to him, of (name, who can do it, whether he does it now); all who know it come to the same.

    What is done stays where it is, up to an even share; the rest goes to who has least, what fewest can do first.
    """
    able: dict[str, list[str]] = {}
    now: dict[str, str] = {}
    for name, holder, does in candidates:
        able.setdefault(name, []).append(holder)
        if does:
            now[name] = holder
    holders = {holder for each in able.values() for holder in each}
    most = -(-len(able) // max(1, len(holders)))
    given: defaultdict[str, list[str]] = defaultdict(list)
    left = []
    for name in sorted(able, key=lambda name: (name not in first, len(able[name]), name)):
        holder = now.get(name)
        if holder is not None and len(given[holder]) < most:
            given[holder].append(name)
        else:
            left.append(name)
    for name in left:
        given[min(able[name], key=lambda holder: (len(given[holder]), holder))].append(name)
    return given
