"""Event stores over a fresh database."""

from collections.abc import AsyncIterator

import pytest

from infra.store import EventStore
from tests.conftest import Database


@pytest.fixture
async def store(database: Database) -> AsyncIterator[EventStore]:
    """An open store."""
    async with await EventStore.open(database.app_url) as opened:
        yield opened


@pytest.fixture
async def other(database: Database) -> AsyncIterator[EventStore]:
    """The same database, opened as by another process."""
    async with await EventStore.open(database.app_url) as opened:
        yield opened
