"""The steward's beat against a real Postgres. Source: rulebook T11."""

from collections.abc import AsyncIterator

import psycopg
import pytest
import pytest_asyncio

from infra.beat import FOLDER, Beat
from infra.faults import Fault
from infra.store.migrate import STORE, migrate
from tests.conftest import Database


@pytest_asyncio.fixture
async def beat(database: Database) -> AsyncIterator[Beat]:
    await migrate(database.owner_url, (STORE, FOLDER))
    made = Beat(database.app_url)
    yield made
    await made.close()


async def test_t11_the_latest_beat_counts(beat: Beat, database: Database) -> None:
    assert await beat.last_ms() is None
    await beat.note(1_000)
    await beat.note(3_000)
    await beat.note(2_000)
    other = Beat(database.app_url)
    assert await other.last_ms() == 3_000
    await other.close()


async def test_a_lost_connection_is_replaced(beat: Beat, database: Database) -> None:
    await beat.note(5_000)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
            "and pid <> pg_backend_pid()"
        )
    await beat.note(6_000)
    assert await beat.last_ms() == 6_000


async def test_a_store_that_is_away_is_a_fault() -> None:
    beat = Beat("postgresql://nobody@/none?host=/nowhere")
    with pytest.raises(Fault) as caught:
        await beat.last_ms()
    assert caught.value.code == "store_unavailable"
