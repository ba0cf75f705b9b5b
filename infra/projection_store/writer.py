"""The one connection through which a process keeps its projections. Source: DESIGN "Projections"."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Self, TypeVar

import msgspec
import psycopg
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.rows import TupleRow

from infra.faults import Fault
from infra.projection_store.queries import one_line, query
from infra.projection_store.sending import Command, Copy, Sender
from infra.projection_store.statements import copying, statement
from infra.projection_store.types import (
    REASON_LENGTH,
    STATES,
    Checkpoint,
    Definition,
    Generation,
    Parked,
    Shape,
    State,
    Stopped,
    StoredState,
    Work,
    WriteBroken,
    schema_of,
)
from infra.store.connect import Damaged, Unavailable, application_conninfo, reason

T = TypeVar("T")

COPY_FROM = 200
"""New rows from which COPY is quicker: 5 µs a row against 20, and a round trip more."""
DEFINING = 0x6B68_7261_7000
"""The advisory lock under which generations are made, switched and dropped, one process at a time."""


class ProjectionWriter:
    """A connection that writes generations. Which are this process's to write, leases say (`infra.leases`).

    Every method raises Fault("store_unavailable") where the connection fails; the writer is of no use after that.
    """

    def __init__(self, connection: AsyncConnection[TupleRow]) -> None:
        self._connection = connection
        self._sender = Sender(connection)
        self._shapes: dict[str, dict[str, Shape]] = {}

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect as the application's role."""
        # The sender alone prepares statements on it: see there.
        connecting = AsyncConnection.connect(application_conninfo(url), autocommit=True, prepare_threshold=None)
        connection = await _reached(connecting)
        await _reached(connection.execute(query("session.sql")))
        return cls(connection)

    async def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            await self._connection.close()

    async def define(self, definitions: Sequence[Definition], heads: Mapping[int, int]) -> None:
        """Make the first generation of the names that have none, of the newest version, at position 0 of every part.

        It serves at once where the log has no event yet (`heads`: part → last position), else once it is there.
        Raises Fault: `projection_changed` for a version that was made from another DDL, `store_not_migrated` where
        there is no registry.
        """
        try:
            await _reached(self._define(definitions, heads))
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            detail = f"the database has no registry of projections; run `khrap db migrate` ({one_line(error)})"
            raise Fault("store_not_migrated", detail) from error

    async def _define(self, definitions: Sequence[Definition], heads: Mapping[int, int]) -> None:
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.execute("select pg_advisory_xact_lock(%s)", [DEFINING])
            there = await read_generations(cursor)
            newest = {each.name: each for each in sorted(definitions, key=lambda each: each.version)}
            for each in definitions:
                made = [g for g in there if g.name == each.name]
                refuse_changed(each, made)
                if not made and each is newest[each.name]:
                    serving = not any(heads.values())
                    await make_generation(cursor, each, 1, sorted(heads), state="following", serving=serving)

    async def generations(self) -> list[Generation]:
        """All generations there are, by name, version and number."""
        return await _reached(self._generations())

    async def _generations(self) -> list[Generation]:
        async with self._connection.cursor() as cursor:
            return await read_generations(cursor)

    async def shapes(self, schema: str) -> dict[str, Shape]:
        """The tables of a generation, as the catalog has them; none where it is gone."""
        if schema not in self._shapes:
            self._shapes[schema] = await _reached(self._read_shapes(schema))
        return self._shapes[schema]

    async def _read_shapes(self, schema: str) -> dict[str, Shape]:
        async with self._connection.cursor() as cursor:
            return await read_shapes(cursor, schema)

    async def serve_first(self, schema: str) -> None:
        """Let a generation serve where no other of its name does."""
        await _reached(self._sender.transact([Command(query("serve_first.sql"), (schema,))]))

    async def note(self, schema: str, why: str | None) -> None:
        """Say why a generation cannot be kept up, or that it can."""
        given = [None if why is None else why[:REASON_LENGTH], schema]
        await _reached(self._connection.execute(query("refuse.sql"), given))

    async def checkpoint(self, schema: str) -> Checkpoint:
        """How far a generation is, as last committed."""
        return await _reached(self._checkpoint(schema))

    async def _checkpoint(self, schema: str) -> Checkpoint:
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.execute("set transaction isolation level repeatable read")
            await cursor.execute(query("checkpoint.sql"), [schema])
            vector: dict[int, int] = dict(await cursor.fetchall())
            await cursor.execute(query("parked.sql"), [schema])
            parked = [Parked(*row) for row in await cursor.fetchall()]
        return Checkpoint(vector=vector, parked={each.stream: each for each in parked})

    async def states(self, schema: str, streams: Sequence[str]) -> dict[str, StoredState]:
        """The stored states of those of `streams` that have one. Raises WriteBroken where they cannot be read."""
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

        Raises WriteStale where a checkpoint is not where the work begins, WriteRefused where Postgres refuses a row,
        WriteBroken where it cannot write to a table; then nothing is written. After a Fault it may have been: the
        checkpoint tells.
        """
        commands = [command for work in works for command in self._commands(work)]
        await _reached(self._sender.transact(commands))

    def _commands(self, work: Work) -> Iterator[Command | Copy]:
        schema = work.schema
        if work.moves:
            parts = sorted(work.moves)
            before, after = zip(*(work.moves[part] for part in parts), strict=True)
            yield Command(query("advance.sql"), (schema, _array(parts), _array(before), _array(after)), len(parts))
        for write in work.writes:
            shape = self._shapes[schema][write.table]
            if write.kind == "insert" and len(write.rows) >= COPY_FROM and not shape.json:
                yield Copy(copying(schema, write.table, write.columns), write.columns, write.rows)
                continue
            text = statement(schema, write.table, shape, write.kind, write.columns)
            yield Command(text, (msgspec.json.encode(write.rows).decode(),))
        for retaken in work.retaken:
            yield Command(query("retake.sql"), (schema, retaken.stream, retaken.seq), 1)
        for parked in (*work.parked, *(each.parked for each in work.retaken if each.parked is not None)):
            yield Command(query("park.sql"), (schema, *msgspec.structs.astuple(parked)), 1)
        if work.serve:
            yield Command(query("serve_first.sql"), (schema,))


def _array(numbers: Iterable[int]) -> str:
    """An array's text: ten times as fast as having each number adapted."""
    return "{" + ",".join(map(str, numbers)) + "}"


def digest_of(definition: Definition) -> str:
    """What says that two generations were made alike."""
    return hashlib.sha256(query("states.sql") + definition.ddl.encode()).hexdigest()


def refuse_changed(definition: Definition, made: Sequence[Generation]) -> None:
    """Raises Fault(`projection_changed`) where the version was made before, from another DDL."""
    for each in made:
        if each.version == definition.version and each.digest != digest_of(definition):
            raise Fault(
                "projection_changed",
                f"{each.name} version {each.version} was made from another DDL; give the new one the next version",
            )


async def read_generations(cursor: AsyncCursor[TupleRow]) -> list[Generation]:
    """All there are, by name, version and number."""
    await cursor.execute(query("generations.sql"))
    assert cursor.description is not None
    names = [column.name for column in cursor.description]
    return [Generation(**dict(zip(names, row, strict=True))) for row in await cursor.fetchall()]


async def make_generation(
    cursor: AsyncCursor[TupleRow],
    definition: Definition,
    generation: int,
    parts: Sequence[int],
    *,
    state: State,
    serving: bool = False,
) -> str:
    """Make the tables of a generation, at position 0 of every part; its schema. In a transaction, under `DEFINING`."""
    schema = schema_of(definition.name, definition.version, generation)
    given = {
        "name": definition.name,
        "version": definition.version,
        "generation": generation,
        "schema": schema,
        "digest": digest_of(definition),
        "state": state,
        "serving": serving,
    }
    await cursor.execute("select projection.make_schema(%s)", [schema])
    await cursor.execute("select set_config('search_path', %s, true)", [schema])
    await cursor.execute(definition.ddl.encode())
    await cursor.execute(query("states.sql"))
    await cursor.execute(query("register.sql"), given)
    await cursor.execute(query("begin_at_zero.sql"), [schema, list(parts)])
    return schema


async def read_shapes(cursor: AsyncCursor[TupleRow], schema: str) -> dict[str, Shape]:
    """The tables of a schema, as the catalog has them."""
    await cursor.execute(query("shapes.sql"), {"schema": schema})
    columns: dict[str, list[str]] = {}
    places: dict[str, dict[int, str]] = {}
    json: dict[str, set[str]] = {}
    for table, column, place, is_json in await cursor.fetchall():
        columns.setdefault(table, []).append(column)
        places.setdefault(table, {})
        if is_json:
            json.setdefault(table, set()).add(column)
        if place is not None:
            places[table][place] = column
    bare = [f"{schema}.{table}" for table, key in places.items() if not key]
    assert not bare, f"a projection's tables need primary keys: {bare}"
    return {
        t: Shape(tuple(columns[t]), tuple(places[t][p] for p in sorted(places[t])), frozenset(json.get(t, ())))
        for t in columns
    }


async def _reached(doing: Awaitable[T]) -> T:
    """The result, or Fault("store_unavailable") where the connection or the server gives up."""
    try:
        return await doing
    except Damaged as error:
        raise WriteBroken(reason(error)) from error
    except Unavailable as error:
        raise Fault("store_unavailable", f"the projections' connection failed: {one_line(error)}") from error
