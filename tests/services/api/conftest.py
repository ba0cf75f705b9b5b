"""One node for the tests of a module; each test takes tables and players of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

import pytest
import pytest_asyncio

from tests.conftest import Database
from tests.services.api.nodes import Node, running_node


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def node(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Node]:
    """API, projector and steward in this process, on a database of their own."""
    with fresh_database() as database:
        async with running_node(database, redis_url, tmp_path_factory.mktemp("home")) as made:
            yield made
