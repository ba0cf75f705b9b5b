"""What ops do with generations: begin one, compare it, switch to it and back, drop it. Source: DESIGN "Projections"."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.rows import TupleRow

from infra.faults import Fault
from infra.projection_store import comparing
from infra.projection_store.queries import one_line, query
from infra.projection_store.types import REASON_LENGTH, Definition, Difference, Generation, Law
from infra.projection_store.writer import (
    DEFINING,
    make_generation,
    read_generations,
    read_shapes,
    refuse_changed,
)
from infra.store.connect import SETTINGS, Damaged, Unavailable, application_conninfo, damaged

SESSION = {
    # All rows are read here, and indexes made: as Postgres sees fit, for as long as it takes.
    **{name: value for name, value in SETTINGS.items() if not name.startswith("enable_")},
    "synchronous_commit": "off",
    "statement_timeout": "0",
    # What holds others up is over in milliseconds, unless this process is stopped or its machine vanishes: what serves
    # would stand still with it.
    "idle_in_transaction_session_timeout": "3000",
    "lock_timeout": "10000",
    "maintenance_work_mem": "64MB",
}


class Comparison(Struct, frozen=True, kw_only=True):
    """A generation beside the one that serves, both after so many events: how many rows there are, and what is wrong.

    `unsaid` are tables and columns that are not in both, though the release does not say so; `damaged` are tables of
    the one that serves which Postgres cannot read; `parked` are streams that wait in this generation alone; `broken`
    are laws that do not hold.
    """

    events: int
    rows: int
    differences: tuple[Difference, ...] = ()
    unsaid: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def alike(self) -> bool:
        """Whether all rows that are to be alike are."""
        return not (self.differences or self.unsaid or self.damaged or self.parked)


def overtaken(schema: str) -> Fault:
    """What is said to who waited for a generation that is built, or stood still for longer than others wait for him."""
    return Fault(
        "rebuild_overtaken",
        f"somebody else went on with {schema}, or dropped it, meanwhile; `khrap projections status` says how it "
        "stands, and the command can be run again",
    )


class Generations:
    """A connection for what ops do. Every method raises Fault("store_unavailable") where it fails."""

    def __init__(self, connection: AsyncConnection[TupleRow], url: str) -> None:
        self._connection = connection
        self._url = url

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator[Self]:
        """Connect as the application's role, for as long as the block runs."""
        try:
            connection = await AsyncConnection.connect(application_conninfo(url, SESSION), autocommit=True)
            try:
                yield cls(connection, url)
            finally:
                with suppress(psycopg.Error):
                    await connection.close()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            detail = f"the database has no registry of projections; run `khrap db migrate` ({one_line(error)})"
            raise Fault("store_not_migrated", detail) from error
        except Damaged as error:
            raise damaged(error) from error
        except Unavailable as error:
            raise Fault("store_unavailable", f"the projections' connection failed: {one_line(error)}") from error

    async def all(self) -> list[Generation]:
        """All there are, by name, version and number."""
        async with self._connection.cursor() as cursor:
            return await read_generations(cursor)

    async def serving(self, name: str) -> Generation | None:
        """The one that serves, if any."""
        return next((g for g in await self.all() if g.name == name and g.serving), None)

    @asynccontextmanager
    async def _defining(self) -> AsyncIterator[AsyncCursor[TupleRow]]:
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.execute("select pg_advisory_xact_lock(%s)", [DEFINING])
            yield cursor

    async def begin(self, definition: Definition, parts: Sequence[int]) -> tuple[Generation, bool]:
        """The generation to be built: a new one, or one that was begun and never served; and whether it is that.

        A new one has no indexes yet but those of its keys, see `finish`. Raises Fault(`projection_changed`).
        """
        async with self._defining() as cursor:
            made = [g for g in await read_generations(cursor) if g.name == definition.name]
            refuse_changed(definition, made)
            own = [g for g in made if g.version == definition.version]
            begun = [g for g in own if not g.served and not g.serving and g.state != "dropping"]
            if begun:
                return begun[-1], True
            number = max((g.generation for g in own), default=0) + 1
            schema = await make_generation(cursor, definition, number, parts, state="building")
            await cursor.execute(query("defer_indexes.sql"), [schema])
            indexes = await cursor.fetchall()
            for name, _ in indexes:
                await cursor.execute(f"drop index {name}".encode())
            later = [text for _, text in indexes]
            update = "update projection.generation set deferred = %s where schema_name = %s"
            await cursor.execute(update, [later, schema])
            return next(g for g in await read_generations(cursor) if g.schema == schema), False

    async def finish(self, schema: str) -> None:
        """Make the indexes that were put off, and have Postgres learn what the tables hold."""
        async with self._connection.transaction(), self._connection.cursor() as cursor:
            # Locked: who was taken for dead may be at it still.
            deferred = "select deferred from projection.generation where schema_name = %s for update"
            await cursor.execute(deferred, [schema])
            row = await cursor.fetchone()
            for text in (row and row[0]) or []:
                await cursor.execute(text)
            await cursor.execute("update projection.generation set deferred = null where schema_name = %s", [schema])
            for table in await read_shapes(cursor, schema):
                await cursor.execute(sql.SQL("analyze {}").format(sql.Identifier(schema, table)))

    async def vector(self, schema: str) -> dict[int, int]:
        """Part → position."""
        return dict(await (await self._connection.execute(query("checkpoint.sql"), [schema])).fetchall())

    @asynccontextmanager
    async def held_still(self, schema: str) -> AsyncIterator[dict[int, int]]:
        """The position of a generation, which nobody moves while the block runs: make it short."""
        async with self._connection.transaction():
            yield dict(await (await self._connection.execute(query("hold_still.sql"), [schema])).fetchall())

    async def kept(self, schema: str) -> bool:
        """Whether a process keeps it up now."""
        row = await (await self._connection.execute(query("kept.sql"), [schema])).fetchone()
        return bool(row and row[0])

    async def follow(self, schema: str) -> None:
        """Leave one that was in building to the projectors to keep up. Raises Fault where it is that no more."""
        update = (
            "update projection.generation set state = 'following', refused = null"
            " where schema_name = %s and state = 'building'"
        )
        if (await self._connection.execute(update, [schema])).rowcount != 1:
            raise overtaken(schema)

    async def refuse(self, schema: str, why: str) -> None:
        """Note why it may not serve."""
        await self._connection.execute(query("refuse.sql"), [why[:REASON_LENGTH], schema])

    async def switch(self, name: str, to: str, *, first: bool = False) -> bool:
        """Let `to` serve, in one transaction; False where it has not passed yet all that the one that serves has.

        So no reader ever goes back. That one is held still, or it could go on between the look and the switch. `first`:
        it never served; where it did meanwhile, and was gone back from, nobody means it any more.
        """
        async with self._defining() as cursor:
            found = await read_generations(cursor)
            if first and any(g.schema == to and g.served for g in found):
                raise overtaken(to)
            if next((g.state for g in found if g.schema == to), None) != "following":
                raise Fault("projection_missing", f"{to} is not there, or not built yet: it cannot serve")
            now = next((g.schema for g in found if g.name == name and g.serving), None)
            if now is not None:
                await cursor.execute(query("hold_still.sql"), [now])
                held: dict[int, int] = dict(await cursor.fetchall())
                reached = await self.vector(to)
                if any(reached[part] < pos for part, pos in held.items()):
                    return False
            await cursor.execute(query("retire.sql"), [name])
            await cursor.execute(query("serve.sql"), [to])
            return True

    async def previous(self, name: str) -> str | None:
        """The schema of the one that served before the one that does."""
        row = await (await self._connection.execute(query("previous.sql"), [name])).fetchone()
        return None if row is None else str(row[0])

    async def give_up(self, schema: str) -> None:
        """Drop one that was in building. Raises Fault where it is that no more."""
        update = "update projection.generation set state = 'dropping' where schema_name = %s and state = 'building'"
        if (await self._connection.execute(update, [schema])).rowcount != 1:
            raise overtaken(schema)
        await self.drop(schema)

    async def let_go(self, schema: str) -> None:
        """Have nobody keep it up any more. Raises Fault where it serves, or is not there."""
        update = "update projection.generation set state = 'dropping' where schema_name = %s and not serving"
        if (await self._connection.execute(update, [schema])).rowcount != 1:
            raise Fault("projection_serves", f"{schema} serves now, or somebody has just dropped it")

    async def forget(self, schema: str) -> None:
        """Drop a generation though it serves: its rows are of a log that is no more."""
        update = "update projection.generation set serving = false, state = 'dropping' where schema_name = %s"
        await self._connection.execute(update, [schema])
        await self.drop(schema)

    async def drop(self, schema: str) -> None:
        """Its rows, and all that is known of it, go."""
        async with self._defining() as cursor:
            delete = "delete from projection.generation where schema_name = %s and not serving and state = 'dropping'"
            await cursor.execute(delete, [schema])
            if cursor.rowcount == 1:
                await cursor.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(schema)))

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """All as it stands at one moment, which is when the block begins, on a connection of its own."""
        async with await AsyncConnection.connect(application_conninfo(self._url, SESSION)) as connection:
            await connection.execute("set transaction isolation level repeatable read, read only")
            await connection.execute(
                "select 1 from projection.generation limit 1"
            )  # the first query takes the snapshot
            yield Snapshot(connection)


class Snapshot:
    """One moment."""

    def __init__(self, connection: AsyncConnection[TupleRow]) -> None:
        self._connection = connection

    async def broken(self, schema: str, laws: Sequence[Law]) -> list[str]:
        """What breaks the laws."""
        return await comparing.broken(self._connection, schema, laws)

    async def compare(self, ours: str, other: str, changes: Sequence[str], laws: Sequence[Law]) -> Comparison:
        """A generation beside another, both at the same position in this moment."""
        async with self._connection.cursor() as cursor:
            mine, theirs = await read_shapes(cursor, ours), await read_shapes(cursor, other)
        tables, unsaid = comparing.compared(mine, theirs, changes)
        digests = await comparing.digest(self._connection, ours, tables)
        against, unread = await comparing.digest_as_far(self._connection, other, tables)
        found: list[Difference] = []
        for table, columns in tables.items():
            if table in against and digests[table] != against[table]:
                key = mine[table].key
                found += await comparing.differences(self._connection, ours, other, table, columns, key)
        found_at = await self._connection.execute(query("checkpoint.sql"), [ours])
        return Comparison(
            events=sum([pos for _, pos in await found_at.fetchall()]),
            rows=sum(rows for rows, _ in digests.values()),
            differences=tuple(found),
            unsaid=tuple(unsaid),
            damaged=tuple(unread),
            parked=tuple(sorted(await self._parked(ours) - await self._parked(other))),
            broken=tuple(await self.broken(ours, laws)),
        )

    async def _parked(self, schema: str) -> set[str]:
        found = await self._connection.execute(query("parked.sql"), [schema])
        return {
            f"{stream} at event {seq}: {code}: {reason}" for stream, _, seq, code, reason, _ in await found.fetchall()
        }
