"""The one connection through which a process keeps its projections. Source: DESIGN "Projections"."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Self, TypeVar

import msgspec
import psycopg
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.rows import TupleRow

from infra.faults import Fault
from infra.projection_store.queries import one_line, query
from infra.projection_store.sending import Command, Sender
from infra.projection_store.statements import statement
from infra.projection_store.types import (
    STATES,
    Checkpoint,
    Definition,
    Parked,
    Shape,
    Stopped,
    StoredState,
    Work,
)
from infra.store.connect import Unavailable, application_conninfo

T = TypeVar("T")

DEFINING = 0x6B68_7261_7000
"""The advisory lock under which versions are defined, one process at a time."""


class ProjectionWriter:
    """A connection with the locks of the projections that it keeps: if it is lost, so are they.

    Every method raises Fault("store_unavailable") where the connection fails; the writer is of no use after that.
    """

    def __init__(self, connection: AsyncConnection[TupleRow]) -> None:
        self._connection = connection
        self._sender = Sender(connection)
        self._shapes: dict[str, dict[str, Shape]] = {}
        self._locks: set[str] = set()

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect as the application's role."""
        connection = await _reached(AsyncConnection.connect(application_conninfo(url), autocommit=True))
        await _reached(connection.execute(query("session.sql")))
        return cls(connection)

    async def close(self) -> None:
        """Close the connection, and let go of its locks."""
        with suppress(psycopg.Error):
            await self._connection.close()

    async def define(self, definitions: Sequence[Definition], parts: Iterable[int]) -> None:
        """Make the tables of the versions that are not there yet, each at position 0 of every part.

        The first version of a name serves at once. Raises Fault: `projection_changed` for a version that was made from
        another DDL, `store_not_migrated` where there is no registry.
        """
        try:
            await _reached(self._define(definitions, sorted(parts)))
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            detail = f"the database has no registry of projections; run `khrap db migrate` ({one_line(error)})"
            raise Fault("store_not_migrated", detail) from error

    async def _define(self, definitions: Sequence[Definition], parts: list[int]) -> None:
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.execute("select pg_advisory_xact_lock(%s)", [DEFINING])
            for each in definitions:
                await _define_one(cursor, each, parts)
                self._shapes[each.schema] = await _read_shapes(cursor, each.schema)

    def shapes(self, schema: str) -> dict[str, Shape]:
        """The tables of a version that was defined, as the catalog has them."""
        return self._shapes[schema]

    async def lock(self, name: str) -> bool:
        """Try to become the one who keeps `name`, for as long as this connection lasts; whether it is so."""
        if name in self._locks:
            return True
        digest = hashlib.sha256(b"khrap-projection/1\0" + name.encode()).digest()
        key = int.from_bytes(digest[:8], "big", signed=True)
        found = await _reached(self._connection.execute("select pg_try_advisory_lock(%s)", [key]))
        row = await _reached(found.fetchone())
        if row is None or not row[0]:
            return False
        self._locks.add(name)
        return True

    async def checkpoint(self, name: str, version: int) -> Checkpoint:
        """How far a version is, as last committed."""
        return await _reached(self._checkpoint(name, version))

    async def _checkpoint(self, name: str, version: int) -> Checkpoint:
        which = [name, version]
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.execute("set transaction isolation level repeatable read")
            await cursor.execute(query("checkpoint.sql"), which)
            vector: dict[int, int] = dict(await cursor.fetchall())
            await cursor.execute(query("parked.sql"), {"name": name, "version": version})
            parked = [Parked(*row) for row in await cursor.fetchall()]
        return Checkpoint(vector=vector, parked={each.stream: each for each in parked})

    async def states(self, schema: str, streams: Sequence[str]) -> dict[str, StoredState]:
        """The stored states of those of `streams` that have one."""
        return await _reached(self._states(schema, streams))

    async def _states(self, schema: str, streams: Sequence[str]) -> dict[str, StoredState]:
        wanted = sql.SQL("select stream, seq, coalesce(state::text, 'null') from {} where stream = any(%s)")
        found = await self._connection.execute(wanted.format(sql.Identifier(schema, STATES)), [list(streams)])
        return {stream: StoredState(seq, state) for stream, seq, state in await found.fetchall()}

    async def stopped(self) -> list[Stopped]:
        """The parts that are not read for a hole in them."""
        found = await _reached(self._connection.execute(query("stopped.sql")))
        return [Stopped(*row) for row in await _reached(found.fetchall())]

    async def stop_part(self, stopped: Stopped) -> None:
        """Say that a part is not read for a hole in it."""
        given = [stopped.part, stopped.pos, stopped.reason, stopped.since_ms]
        await _reached(self._connection.execute(query("stop_part.sql"), given))

    async def resume_part(self, part: int) -> None:
        """Say that a part is read again."""
        await _reached(self._connection.execute("delete from projection.stopped where part = %s", [part]))

    async def apply(self, works: Sequence[Work]) -> None:
        """Write the work of one or several projections, and move their checkpoints, in one transaction.

        Raises WriteStale where a checkpoint is not where the work begins, WriteRefused where Postgres refuses a row; in
        both cases nothing is written. After a Fault it may have been: the checkpoint tells.
        """
        commands = [command for work in works for command in self._commands(work)]
        await _reached(self._sender.transact(commands))

    def _commands(self, work: Work) -> Iterator[Command]:
        which = (work.name, work.version)
        if work.moves:
            parts = sorted(work.moves)
            before, after = zip(*(work.moves[part] for part in parts), strict=True)
            yield Command(query("advance.sql"), (*which, _array(parts), _array(before), _array(after)), len(parts))
        for write in work.writes:
            shape = self._shapes[work.schema][write.table]
            text = statement(work.schema, write.table, shape, write.kind, write.columns)
            yield Command(text, (msgspec.json.encode(write.rows).decode(),))
        for retaken in work.retaken:
            yield Command(query("retake.sql"), (*which, retaken.stream, retaken.seq), 1)
        for parked in (*work.parked, *(each.parked for each in work.retaken if each.parked is not None)):
            yield Command(query("park.sql"), (*which, *msgspec.structs.astuple(parked)), 1)


def _array(numbers: Iterable[int]) -> str:
    """An array's text: ten times as fast as having each number adapted."""
    return "{" + ",".join(map(str, numbers)) + "}"


async def _define_one(cursor: AsyncCursor[TupleRow], each: Definition, parts: list[int]) -> None:
    digest = hashlib.sha256(query("states.sql") + each.ddl.encode()).hexdigest()
    which = [each.name, each.version]
    await cursor.execute("select ddl_digest from projection.version where name = %s and version = %s", which)
    row = await cursor.fetchone()
    if row is not None:
        if row[0] != digest:
            raise Fault(
                "projection_changed",
                f"{each.name} version {each.version} was made from another DDL; give the new one the next version",
            )
        return
    await cursor.execute("select projection.make_schema(%s)", [each.schema])
    await cursor.execute("select set_config('search_path', %s, true)", [each.schema])
    await cursor.execute(each.ddl.encode())
    await cursor.execute(query("states.sql"))
    await cursor.execute(query("register.sql"), {**msgspec.structs.asdict(each), "digest": digest})
    await cursor.execute(query("begin_at_zero.sql"), [*which, parts])


async def _read_shapes(cursor: AsyncCursor[TupleRow], schema: str) -> dict[str, Shape]:
    await cursor.execute(query("shapes.sql"), {"schema": schema})
    columns: dict[str, list[str]] = {}
    places: dict[str, dict[int, str]] = {}
    for table, column, place in await cursor.fetchall():
        columns.setdefault(table, []).append(column)
        places.setdefault(table, {})
        if place is not None:
            places[table][place] = column
    bare = [f"{schema}.{table}" for table, key in places.items() if not key]
    assert not bare, f"a projection's tables need primary keys: {bare}"
    return {t: Shape(tuple(columns[t]), tuple(places[t][p] for p in sorted(places[t]))) for t in columns}


async def _reached(doing: Awaitable[T]) -> T:
    """The result, or Fault("store_unavailable") where the connection or the server gives up."""
    try:
        return await doing
    except Unavailable as error:
        raise Fault("store_unavailable", f"the projections' connection failed: {one_line(error)}") from error
