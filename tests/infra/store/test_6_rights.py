"""Promise 6: the application's role may append by the function and read; it cannot touch the log otherwise."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg import errors

from infra.store import EventStore
from infra.store.connect import application_conninfo
from tests.conftest import Database
from tests.infra.store.streams import new_stream, write

TABLES = ("event", "part_head", "stream_head", "layout", "migration")
FORBIDDEN = {
    **{f"insert into {table}": f"insert into store.{table} select * from store.{table}" for table in TABLES},
    **{f"delete from {table}": f"delete from store.{table}" for table in TABLES},
    **{f"truncate {table}": f"truncate store.{table}" for table in TABLES},
    **{f"lock rows of {table}": f"select * from store.{table} for update" for table in TABLES},
    "change an event": "update store.event set body = 'x'",
    "change a counter": "update store.part_head set last_pos = 0",
    "change a head": "update store.stream_head set last_seq = 0",
    "change the layout": "update store.layout set parts = 1",
    "drop a table": "drop table store.event",
    "alter a table": "alter table store.event disable trigger all",
    "add a trigger": "create trigger t before update on store.event execute function tsvector_update_trigger()",
    "add a rule": "create rule r as on insert to store.event do instead nothing",
    "add an index": "create index on store.event (type)",
    "add to the schema": "create table store.mine (a int)",
    "replace the function": "create or replace function store.append() returns void language sql as ''",
    "drop the schema": "drop schema store cascade",
    "become the owner": "set role khrap_owner",
    "write through the copy": "copy store.event from stdin",
}


@pytest.fixture(scope="module")
def used_database(module_database: Database) -> Database:
    """A database with an event in it."""

    async def use() -> None:
        async with await EventStore.open(module_database.app_url) as store:
            await write(store, new_stream(), 1)

    asyncio.run(use())
    return module_database


@pytest.mark.parametrize("what", FORBIDDEN)
def test_6_the_application_cannot(used_database: Database, what: str) -> None:
    with psycopg.connect(used_database.app_url, autocommit=True) as connection:
        assert connection.execute("select current_user").fetchone() == ("khrap_app",)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(FORBIDDEN[what].encode())
        assert connection.execute("select count(*), min(body) from store.event").fetchone() == (1, b'{"n":0}')


async def test_6_the_store_works_as_the_application_whoever_the_url_names(database: Database) -> None:
    """With the owner's URL too, and RESET ROLE does not lead out of it."""
    with psycopg.connect(application_conninfo(database.owner_url), autocommit=True) as connection:
        connection.execute("reset role")
        assert connection.execute("select current_user").fetchone() == ("khrap_app",)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("delete from store.event")
    async with await EventStore.open(database.owner_url) as store:
        await write(store, new_stream(), 1)


def test_6_nobody_but_the_application_may_append(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        rows = owner.execute(
            "select coalesce(r.rolname, 'public') from pg_proc p cross join aclexplode(p.proacl) a "
            "left join pg_roles r on r.oid = a.grantee "
            "where p.proname = 'append' and p.pronamespace = 'store'::regnamespace order by 1"
        ).fetchall()
    assert rows == [("khrap_app",), ("khrap_owner",)]


def test_6_the_function_runs_as_an_owner_that_is_no_superuser(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        row = owner.execute(
            "select r.rolname, r.rolsuper, r.rolcanlogin, p.prosecdef, "
            "'search_path=pg_catalog, pg_temp' = any (p.proconfig) "
            "from pg_proc p join pg_roles r on r.oid = p.proowner "
            "where p.proname = 'append' and p.pronamespace = 'store'::regnamespace"
        ).fetchone()
    assert row == ("khrap_owner", False, False, True, True)
