"""What a process does before it begins: the store of given servers made, refused or left to their owner."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from infra.faults import Fault
from infra.migrations import FOLDERS
from infra.settings import Settings
from infra.store.migrate import db_status
from services.core import Addresses, prepare
from tests.conftest import Database, as_application, with_database

GIVEN = Settings(database_url="postgresql://app@db/khrap", redis_url="redis://cache")


@pytest.fixture
def empty(postgres_url: str) -> Iterator[str]:
    """The owner's URL of a database that nobody has migrated."""
    name = f"khrap_test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield with_database(postgres_url, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def test_an_empty_database_gets_a_store_where_its_owner_is_known(empty: str) -> None:
    await prepare(GIVEN, Addresses(empty, as_application(empty), "redis://cache"))
    assert {m.state for m in await db_status(as_application(empty), FOLDERS)} == {"applied"}


async def test_an_empty_database_without_its_owner_is_left_as_it_is(empty: str, template: str) -> None:
    with pytest.raises(Fault) as caught:
        await prepare(GIVEN, Addresses(None, as_application(empty), "redis://cache"))
    assert caught.value.code == "store_not_migrated"
    assert "khrap db init" in caught.value.detail


async def test_a_store_of_an_older_version_is_not_migrated_in_passing(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("delete from store.migration where folder = 'steward'")
    with pytest.raises(Fault) as caught:
        await prepare(GIVEN, Addresses(database.owner_url, database.app_url, "redis://cache"))
    assert "steward/0001_beat.sql" in caught.value.detail
    assert "khrap db migrate" in caught.value.detail


async def test_a_store_of_a_newer_version_is_not_touched(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("insert into store.migration values ('store', 9999, 'what_comes', 'x')")
    with pytest.raises(Fault) as caught:
        await prepare(GIVEN, Addresses(database.owner_url, database.app_url, "redis://cache"))
    assert "store/9999_what_comes.sql is unknown to this version" in caught.value.detail


async def test_a_store_that_is_up_to_date_is_used(database: Database) -> None:
    await prepare(GIVEN, Addresses(None, database.app_url, "redis://cache"))
