"""Reading projections: rows of the version that serves, and how all of them stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from time import monotonic
from typing import Any, Self, TypeVar

import msgspec
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from infra.faults import Fault
from infra.projection_store.queries import one_line, query
from infra.projection_store.types import Parked, Standing, Stopped
from infra.store.connect import Unavailable, application_conninfo

T = TypeVar("T")

SERVING_FOR_S = 1.0
"""How long a reader may go on with the version that served: a version is dropped no sooner after a switch."""
TIMEOUT_S = 5.0
ATTEMPTS = 3


class ProjectionReader:
    """A small pool of connections for reading. Every method raises Fault("store_unavailable") where it cannot."""

    def __init__(self, url: str, size: int = 4) -> None:
        self._pool = AsyncConnectionPool(
            application_conninfo(url), min_size=0, max_size=size, kwargs={"autocommit": True}, open=False
        )
        self._serving: dict[str, tuple[str, float]] = {}

    async def __aenter__(self) -> Self:
        await self._pool.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def rows(self, name: str, text: str, given: Mapping[str, Any], shape: type[T]) -> list[T]:
        """The rows of a query on the version of `name` that serves, as structs of `shape`.

        `text` is the query, with `{schema}` for the version's schema and `%(…)s` for what is `given`. Raises
        Fault("projection_missing") where no version serves yet.
        """
        schema = await self._serves(name)
        return msgspec.convert(await self._read(_composed(text, schema), given), list[shape])  # type: ignore[valid-type]

    async def _serves(self, name: str) -> str:
        schema, until = self._serving.get(name, ("", 0.0))
        if monotonic() < until:
            return schema
        found = await self._read(query("serving.sql"), {"name": name})
        if not found:
            raise Fault(
                "projection_missing", f"no version of the projection {name} serves yet; is a projector running?"
            )
        schema = str(found[0]["schema_name"])
        self._serving[name] = (schema, monotonic() + SERVING_FOR_S)
        return schema

    async def standings(self) -> list[Standing]:
        """How every version stands, by name and version; quick whatever the size of the log."""
        found = await self._read(query("standings.sql"), {})
        parked = await self._read(query("all_parked.sql"), {})
        waiting: dict[tuple[str, int], list[Parked]] = {}
        for row in parked:
            which = (row.pop("name"), row.pop("version"))
            waiting.setdefault(which, []).append(msgspec.convert(row, Parked))
        return [
            msgspec.convert({**row, "parked": waiting.get((row["name"], row["version"]), [])}, Standing)
            for row in found
        ]

    async def parked(self, name: str) -> list[Parked]:
        """The streams that wait in the version of `name` that serves, in the order in which they were parked."""
        return msgspec.convert(await self._read(query("serving_parked.sql"), {"name": name}), list[Parked])

    async def stopped(self) -> list[Stopped]:
        """The parts that are not read for a hole in them."""
        return msgspec.convert(await self._read(query("stopped.sql"), {}), list[Stopped])

    async def _read(self, what: bytes | sql.Composed, given: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        """The rows. A read whose connection is lost is asked again: it changes nothing."""
        for attempt in range(ATTEMPTS):
            try:
                async with self._pool.connection(TIMEOUT_S) as connection:
                    cursor = await connection.cursor(row_factory=dict_row).execute(what, given)
                    return await cursor.fetchall()
            except Unavailable as error:
                if attempt == ATTEMPTS - 1 or isinstance(error, PoolTimeout):
                    raise Fault("store_unavailable", f"the projections cannot be read: {one_line(error)}") from error
        raise AssertionError("the last attempt returns or raises")


@lru_cache(maxsize=500)
def _composed(text: str, schema: str) -> sql.Composed:
    # The text is one of our own files: nothing of a caller's gets into it.
    return sql.SQL(text).format(schema=sql.Identifier(schema))
