"""One node and one browser for the tests of a module."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.conftest import Database
from tests.services.api.nodes import Node, running_node
from tests.services.web.browsing import browser


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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chrome() -> AsyncIterator[Browser]:
    """The system's Chromium."""
    async with browser() as launched:
        yield launched


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(node: Node) -> AsyncIterator[httpx.AsyncClient]:
    """A caller of the pages: of them the API's document says nothing."""
    async with httpx.AsyncClient(base_url=node.url, timeout=30) as made:
        yield made
