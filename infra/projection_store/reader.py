"""Reading projections: rows of the generation that serves, and how all of them stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from time import monotonic
from typing import Any, Self, TypeVar

import msgspec
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from infra.faults import Fault
from infra.projection_store.queries import one_line, query
from infra.projection_store.types import Parked, Standing, Stopped
from infra.store.connect import Damaged, Unavailable, application_conninfo, damaged

T = TypeVar("T")

SERVING_FOR_S = 1.0
"""How long a reader may go on with the generation that served; one that was dropped meanwhile is noticed."""
GONE = (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName)
TIMEOUT_S = 5.0
ATTEMPTS = 3


class ProjectionReader:
    """A small pool of connections for reading. Every method raises Fault("store_unavailable") where it cannot.

    `versions` says which versions of each name this program can read. Where another serves (a newer one that was
    switched to, while this program is older), it reads the one of its own that served last and is still kept up.
    """

    def __init__(self, url: str, size: int = 4, versions: Mapping[str, Collection[int]] | None = None) -> None:
        self._pool = AsyncConnectionPool(
            application_conninfo(url),
            min_size=0,
            max_size=size,
            kwargs={"autocommit": True},
            configure=_configure,
            open=False,
        )
        self._versions = versions or {}
        self._serving: dict[str, tuple[str, float]] = {}

    async def __aenter__(self) -> Self:
        await self._pool.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def rows(self, name: str, text: str, given: Mapping[str, Any], shape: type[T]) -> list[T]:
        """The rows of a query on the generation of `name` that serves, as structs of `shape`.

        `text` is the query, with `{schema}` for its schema, `%(schema)s` for the schema's name, and `%(…)s` for what is
        `given`. A whole `numeric` comes as an int, however large, so sums need no cast.
        Raises Fault("projection_missing") where none serves yet that this program can read, or its rows are damaged.
        """
        schema = await self._serves(name)
        try:
            found = await self._read(_composed(text, schema), {**given, "schema": schema})
        except GONE:
            # It was dropped while we went on with it: another serves, and did before that.
            self._serving.pop(name, None)
            schema = await self._serves(name)
            found = await self._read(_composed(text, schema), {**given, "schema": schema})
        except Fault as fault:
            if fault.code != "store_damaged":
                raise
            detail = f"the rows of {schema} cannot be read; build it anew, with --accept ({fault.detail})"
            raise Fault("projection_missing", detail) from fault
        return msgspec.convert(found, list[shape])  # type: ignore[valid-type]

    async def _serves(self, name: str) -> str:
        schema, until = self._serving.get(name, ("", 0.0))
        if monotonic() < until:
            return schema
        found = await self._read(query("serving.sql"), {"name": name})
        known = self._versions.get(name)
        readable = [row["schema_name"] for row in found if known is None or row["version"] in known]
        if not readable:
            others = ", ".join(str(row["version"]) for row in found)
            raise Fault(
                "projection_missing",
                f"no version of the projection {name} serves yet; is a projector running?"
                if not found
                else f"of the projection {name} version {others} serves, which this program cannot read; "
                f"update it, or run `khrap projections rebuild {name}` with it",
            )
        schema = str(readable[0])
        self._serving[name] = (schema, monotonic() + SERVING_FOR_S)
        return schema

    async def standings(self) -> list[Standing]:
        """How every generation stands, by name, version and number; quick whatever the size of the log."""
        found = await self._read(query("standings.sql"), {})
        parked = await self._read(query("all_parked.sql"), {})
        waiting: dict[str, list[Parked]] = {}
        for row in parked:
            waiting.setdefault(row.pop("schema"), []).append(msgspec.convert(row, Parked))
        return [msgspec.convert({**row, "parked": waiting.get(row["schema"], [])}, Standing) for row in found]

    async def parked(self, name: str) -> list[Parked]:
        """The streams that wait in the generation of `name` that serves, in the order in which they were parked."""
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
            except Damaged as error:
                raise damaged(error) from error
            except Unavailable as error:
                if attempt == ATTEMPTS - 1 or isinstance(error, PoolTimeout):
                    raise Fault("store_unavailable", f"the projections cannot be read: {one_line(error)}") from error
        raise AssertionError("the last attempt returns or raises")


class _Number(Loader):
    """A `numeric`: an int where it is written without a fraction, as the sum of bigints is."""

    def load(self, data: Buffer) -> int | Decimal:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdecimal() else Decimal(text)


async def _configure(connection: AsyncConnection[Any]) -> None:
    connection.adapters.register_loader("numeric", _Number)


@lru_cache(maxsize=500)
def _composed(text: str, schema: str) -> sql.Composed:
    # The text is one of our own files: nothing of a caller's gets into it.
    return sql.SQL(text).format(schema=sql.Identifier(schema))
