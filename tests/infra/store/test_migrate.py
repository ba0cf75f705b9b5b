"""Migrations: forward only, each once, by any number of processes at once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from infra.faults import Fault
from infra.store import EventStore
from infra.store.migrate import STORE, Folder, db_status, migrate
from tests.conftest import Database, _execute, _name, with_database
from tests.infra.store.own_server import own_server
from tests.infra.store.streams import new_stream, write


@pytest.fixture
def empty_url(postgres_url: str) -> Iterator[str]:
    """An empty database's URL."""
    name = sql.Identifier(_name())
    _execute(postgres_url, sql.SQL("create database {}").format(name))
    yield with_database(postgres_url, name.as_string().strip('"'))
    _execute(postgres_url, sql.SQL("drop database {} with (force)").format(name))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Another room's migrations."""
    (tmp_path / "0001_first.sql").write_text("create schema room; create table room.first (a int);")
    (tmp_path / "0002_second.sql").write_text("create table room.second (a int);")
    return Folder("room", tmp_path)


async def test_many_processes_may_migrate_at_once(empty_url: str, folder: Folder) -> None:
    applied = await asyncio.gather(*[migrate(empty_url, (STORE, folder)) for _ in range(6)])
    assert sorted(len(each) for each in applied) == [0, 0, 0, 0, 0, len(await db_status(empty_url, (STORE, folder)))]
    assert {each.state for each in await db_status(empty_url, (STORE, folder))} == {"applied"}


async def test_several_databases_of_a_server_may_be_migrated_at_once(postgres_url: str) -> None:
    """Roles belong to the server, so the first migrations of two databases race for them."""
    with own_server() as server:
        names = [_name() for _ in range(4)]
        for name in names:
            _execute(server.url, sql.SQL("create database {}").format(sql.Identifier(name)))
        urls = [with_database(server.url, name) for name in names]
        assert all(await asyncio.gather(*[migrate(url) for url in urls]))


async def test_the_database_s_owner_may_migrate_without_being_superuser() -> None:
    with own_server() as server:
        _execute(server.url, sql.SQL("create role operator login createrole").format())
        _execute(server.url, sql.SQL("create database khrap_own owner operator").format())
        url = with_database(server.url, "khrap_own").replace("khrap@", "operator@", 1)
        assert await migrate(url)
        assert await migrate(url) == []
        async with await EventStore.open(url) as store:
            await write(store, new_stream(), 2)
            assert (await store.verify()).is_intact


async def test_a_migration_that_fails_leaves_nothing(empty_url: str, folder: Folder) -> None:
    good = (folder.path / "0002_second.sql").read_text()
    (folder.path / "0002_second.sql").write_text("create table room.half (a int); select 1 / 0;")
    with pytest.raises(psycopg.errors.DivisionByZero):
        await migrate(empty_url, (STORE, folder))
    states = {(each.folder, each.number): each.state for each in await db_status(empty_url, (STORE, folder))}
    assert states["room", 1] == "applied"
    assert states["room", 2] == "pending"
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("select to_regclass('room.half')").fetchone() == (None,)
    (folder.path / "0002_second.sql").write_text(good)
    assert [each.name for each in await migrate(empty_url, (STORE, folder))] == ["second"]


async def test_a_migration_that_was_changed_afterwards_is_found(empty_url: str, folder: Folder) -> None:
    await migrate(empty_url, (STORE, folder))
    (folder.path / "0001_first.sql").write_text("create schema other;")
    with pytest.raises(Fault, match=r"migration_changed: room/0001_first\.sql"):
        await migrate(empty_url, (STORE, folder))


async def test_a_database_that_is_newer_than_the_code_is_found(
    empty_url: str, folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await migrate(empty_url, (STORE, folder))
    older = Folder("room", tmp_path_factory.mktemp("older"))
    shutil.copy(folder.path / "0001_first.sql", older.path)
    with pytest.raises(Fault, match=r"migration_unknown: room/0002_second\.sql"):
        await migrate(empty_url, (STORE, older))


async def test_the_parts_are_fixed_when_the_store_is_made(empty_url: str) -> None:
    await migrate(empty_url, parts=8)
    await migrate(empty_url)
    async with await EventStore.open(empty_url) as store:
        assert store.parts == 8
        await write(store, new_stream(), 3)
        assert sorted(await store.part_heads()) == list(range(8))
    with pytest.raises(Fault, match="parts_fixed"):
        await migrate(empty_url, parts=16)


async def test_an_empty_database_is_told_from_a_store(empty_url: str) -> None:
    assert {each.state for each in await db_status(empty_url)} == {"pending"}
    with pytest.raises(Fault, match="store_not_migrated"):
        await EventStore.open(empty_url)


async def test_a_server_without_our_roles_has_no_store() -> None:
    with own_server() as server, pytest.raises(Fault, match="store_not_migrated"):
        await EventStore.open(server.url)


async def test_a_connection_that_is_lost_while_it_is_asked_is_a_fault_that_may_pass(database: Database) -> None:
    async with await psycopg.AsyncConnection.connect(database.owner_url) as owner:
        await owner.execute("lock table store.migration in access exclusive mode")
        asking = asyncio.create_task(db_status(database.app_url))
        ended = 0
        while not ended:
            found = await owner.execute(
                "select count(pg_terminate_backend(pid)) from pg_locks"
                " where not granted and relation = 'store.migration'::regclass"
            )
            row = await found.fetchone()
            assert row is not None
            ended = row[0]
        with pytest.raises(Fault, match="store_unavailable"):
            await asking
