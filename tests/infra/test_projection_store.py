"""The projections' store: rows, checkpoint and parked streams move together, or none of them does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from infra.faults import Fault
from infra.projection_store import (
    Definition,
    Parked,
    ProjectionReader,
    ProjectionWriter,
    Retaken,
    RowWrite,
    Standing,
    Work,
    WriteRefused,
    WriteStale,
)
from tests.conftest import Database

DDL = "create table item (id int primary key, name text not null, tags jsonb not null)"
PLAIN = "create table plain (id int primary key, name text, good boolean not null)"
ITEMS = Definition("items", 1, DDL)
COLUMNS = ("id", "name", "tags")
PARTS = dict.fromkeys(range(4), 0)


@pytest.fixture
async def writer(database: Database) -> AsyncIterator[ProjectionWriter]:
    """The application's writer, with one projection defined."""
    writer = await ProjectionWriter.connect(database.app_url)
    await writer.define([ITEMS], PARTS)
    await writer.shapes("items_v1")
    yield writer
    await writer.close()


def work(
    moves: dict[int, tuple[int, int]],
    *writes: RowWrite,
    parked: tuple[Parked, ...] = (),
    retaken: tuple[Retaken, ...] = (),
) -> Work:
    """What one batch comes to."""
    return Work(
        schema="items_v1",
        moves=moves,
        writes=list(writes),
        parked=list(parked),
        retaken=list(retaken),
    )


def item(number: int, name: str = "a", tags: Any = ()) -> dict[str, Any]:
    """A row."""
    return {"id": number, "name": name, "tags": tags}


def rows(database: Database) -> list[tuple[Any, ...]]:
    """What stands in the table."""
    with psycopg.connect(database.owner_url) as connection:
        return connection.execute("select id, name, tags from items_v1.item order by id").fetchall()


async def test_writes_rows_and_moves_the_checkpoint(writer: ProjectionWriter, database: Database) -> None:
    first = RowWrite("item", "insert", COLUMNS, [item(1), item(2, "ü 'quoted' \\ ;--", {"a": [1, None]})])
    await writer.apply([work({1: (0, 5), 3: (0, 2)}, first)])
    await writer.apply(
        [
            work(
                {1: (5, 6)},
                RowWrite("item", "put", COLUMNS, [item(3), item(1, "new")]),
                RowWrite("item", "update", ("id", "name"), [{"id": 3, "name": "third"}, {"id": 9, "name": "nobody"}]),
                RowWrite("item", "delete", ("id",), [{"id": 2}]),
            )
        ]
    )
    assert rows(database) == [(1, "new", []), (3, "third", [])]
    assert (await writer.checkpoint("items_v1")).vector == {0: 0, 1: 6, 2: 0, 3: 2}


async def test_nothing_is_written_from_where_the_checkpoint_is_not(
    writer: ProjectionWriter, database: Database
) -> None:
    """A lock may be lost unnoticed; what keeps two appliers right is that a checkpoint moves from where it was."""
    await writer.apply([work({1: (0, 5)})])
    stale = RowWrite("item", "insert", COLUMNS, [item(1)])
    with pytest.raises(WriteStale):
        await writer.apply([work({0: (0, 7), 1: (0, 5)}, stale)])
    assert rows(database) == []
    assert (await writer.checkpoint("items_v1")).vector == {0: 0, 1: 5, 2: 0, 3: 0}
    await writer.apply([work({1: (5, 6)}, stale)])
    assert len(rows(database)) == 1


async def test_a_refused_row_leaves_nothing_and_the_connection_usable(
    writer: ProjectionWriter, database: Database
) -> None:
    good = RowWrite("item", "insert", COLUMNS, [item(1)])
    for bad in (item(1), item(2**31), {**item(2), "name": None}, item(3, "nul \0")):
        with pytest.raises(WriteRefused):
            await writer.apply([work({1: (0, 5)}, good, RowWrite("item", "insert", COLUMNS, [bad])), work({2: (0, 1)})])
    assert rows(database) == []
    await writer.apply([work({1: (0, 5)}, good)])
    assert len(rows(database)) == 1


async def test_a_refused_row_on_a_connection_in_long_use_leaves_it_usable(
    writer: ProjectionWriter, database: Database
) -> None:
    """The driver may prepare what it has often sent, and lets go of all statements of a session on a rollback."""
    for pos in range(10):
        await writer.apply([work({1: (pos, pos + 1)}, RowWrite("item", "insert", COLUMNS, [item(pos)]))])
        await writer.states("items_v1", ["table-1"])
        await writer.checkpoint("items_v1")
    for bad in (2**31, 2**63, -(2**70)):
        with pytest.raises(WriteRefused):
            await writer.apply([work({1: (10, 11)}, RowWrite("item", "insert", COLUMNS, [item(bad)]))])
        with pytest.raises(WriteStale):
            await writer.apply([work({1: (9, 10)})])
    for pos in range(10, 20):
        await writer.apply([work({1: (pos, pos + 1)}, RowWrite("item", "insert", COLUMNS, [item(pos)]))])
    assert [number for number, _, _ in rows(database)] == list(range(20))
    assert (await writer.checkpoint("items_v1")).vector[1] == 20


async def test_a_rollback_leaves_no_statement_behind_in_the_session(writer: ProjectionWriter) -> None:
    for _ in range(3):
        with pytest.raises(WriteStale):
            await writer.apply([work({1: (7, 8)}, RowWrite("item", "insert", COLUMNS, [item(1)]))])
    found = await writer._connection.execute("select name from pg_prepared_statements")
    assert await found.fetchall() == []


async def test_parked_streams_stand_beside_the_checkpoint(writer: ProjectionWriter, database: Database) -> None:
    parked = Parked("table-1", 2, 7, "mismatch", "a reason", 1_000)
    await writer.apply([work({2: (0, 9)}, parked=(parked,))])
    assert (await writer.checkpoint("items_v1")).parked == {"table-1": parked}
    async with ProjectionReader(database.app_url) as reader:
        assert await reader.parked("items") == [parked]
        later = Parked("table-1", 2, 8, "mismatch", "another", 1_000)
        await writer.apply([work({}, retaken=(Retaken("table-1", 7, later),))])
        assert await reader.parked("items") == [later]
        with pytest.raises(WriteStale):
            await writer.apply(
                [work({}, RowWrite("item", "insert", COLUMNS, [item(1)]), retaken=(Retaken("table-1", 7, None),))]
            )
        assert rows(database) == []
        await writer.apply([work({}, retaken=(Retaken("table-1", 8, None),))])
        assert await reader.parked("items") == []


async def test_a_lost_connection_is_a_fault(writer: ProjectionWriter, database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    with pytest.raises(Fault, match="store_unavailable"):
        await writer.apply([work({1: (0, 5)})])


async def test_reading_before_any_version_serves_is_a_fault(database: Database) -> None:
    async with ProjectionReader(database.app_url) as reader:
        with pytest.raises(Fault, match="projection_missing"):
            await reader.rows("items", "select 1 from {schema}.item", {}, dict)
        assert await reader.standings() == []


async def test_whole_numbers_of_any_size_are_read_as_ints(writer: ProjectionWriter, database: Database) -> None:
    await writer.serve_first("items_v1")
    query = "select sum(n) as whole, -sum(n) as below, avg(n) as mean from unnest(%(numbers)s::bigint[]) n"
    async with ProjectionReader(database.app_url) as reader:
        (found,) = await reader.rows("items", query, {"numbers": [2**63 - 1, 2**63 - 1, 1]}, dict)
        (small,) = await reader.rows("items", query, {"numbers": [1, 2]}, dict)
    assert (found["whole"], found["below"]) == (2**64 - 1, 1 - 2**64)
    assert (small["whole"], small["mean"]) == (3, Decimal("1.5"))
    assert (type(found["whole"]), type(small["whole"]), type(small["mean"])) == (int, int, Decimal)


async def test_a_table_without_a_key_is_our_mistake(writer: ProjectionWriter) -> None:
    await writer.define([Definition("bare", 1, "create table bare (id int)")], PARTS)
    with pytest.raises(AssertionError, match="primary key"):
        await writer.shapes("bare_v1")


async def test_a_database_without_the_registry_is_told_so(writer: ProjectionWriter, database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute("drop schema projection cascade")
    with pytest.raises(Fault, match="store_not_migrated"):
        await writer.define([ITEMS], PARTS)


def test_lag_is_told_in_events_and_time() -> None:
    behind = Standing(
        name="items", version=1, serving=True, position=5, head=9, behind_since="2026-01-02T03:04:05.678Z"
    )
    assert (behind.lag_events, behind.lag_ms(1_767_323_046_000)) == (4, 322)
    there = Standing(name="items", version=1, serving=True, position=9, head=9, behind_since=None)
    assert (there.lag_events, there.lag_ms(1_767_323_046_000)) == (0, 0)


async def test_many_new_rows_are_copied(writer: ProjectionWriter, database: Database) -> None:
    """What COPY's text format has signs of its own for comes out as it went in; a refused row leaves nothing."""
    await writer.define([Definition("plain", 1, PLAIN)], PARTS)
    await writer.shapes("plain_v1")
    texts = ["a\tb", "back\\slash", "line\nfeed\r", "\\N", "", "ü", "plain", "\\.", None]
    made: list[dict[str, Any]] = [{"id": n, "name": texts[n % len(texts)], "good": n % 2 == 0} for n in range(3_000)]
    await writer.apply([copied(made, {1: (0, 5)})])
    with psycopg.connect(database.owner_url) as connection:
        found = connection.execute("select id, name, good from plain_v1.plain order by id").fetchall()
    assert found == [(each["id"], each["name"], each["good"]) for each in made]
    new = [{**each, "id": each["id"] + 10_000} for each in made]
    for bad in (made, [*new, {**new[0], "id": 2**40}], [*new, {**new[0], "id": 1_000_000, "name": "nul \0"}]):
        with pytest.raises(WriteRefused):
            await writer.apply([copied(bad, {1: (5, 6)})])
    assert (await writer.checkpoint("plain_v1")).vector[1] == 5
    await writer.apply([copied(new, {1: (5, 6)})])


def copied(rows: list[dict[str, Any]], moves: dict[int, tuple[int, int]]) -> Work:
    """So many new rows that they are copied."""
    write = RowWrite("plain", "insert", ("id", "name", "good"), list(rows))
    return Work(schema="plain_v1", moves=moves, writes=[write], parked=[], retaken=[])
