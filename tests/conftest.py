"""The tests' servers: real ones, always.

By default the embedded servers, each worker's own, so that no test hears another on Redis. Or given ones
(KHRAP_TEST_DATABASE_URL, of a role that may create databases and roles, and KHRAP_TEST_REDIS_URL). Or, with
KHRAP_TEST_BACKEND=containers, containers of the images KHRAP_TEST_POSTGRES_IMAGE and KHRAP_TEST_REDIS_IMAGE.
"""

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from msgspec import Struct
from psycopg import sql

from infra.embedded import EmbeddedServers
from infra.embedded.postgres import OWNER
from infra.migrations import FOLDERS
from infra.store.connect import APP_ROLE
from infra.store.migrate import migrate

BACKEND = os.environ.get("KHRAP_TEST_BACKEND", "embedded")
POSTGRES_IMAGE = os.environ.get("KHRAP_TEST_POSTGRES_IMAGE", "postgres:18")
REDIS_IMAGE = os.environ.get("KHRAP_TEST_REDIS_IMAGE", "valkey/valkey:9")


class ServerUrls(Struct, frozen=True):
    """Where the tests' servers are: a superuser's URL, and Redis's."""

    postgres: str
    redis: str


class Database(Struct, frozen=True):
    """A fresh, migrated database: the owner's URL, and the application role's."""

    name: str
    owner_url: str
    app_url: str


@pytest.fixture(scope="session")
def server_urls() -> Iterator[ServerUrls]:
    """The servers, running for as long as the session."""
    given = os.environ.get("KHRAP_TEST_DATABASE_URL"), os.environ.get("KHRAP_TEST_REDIS_URL")
    if given[0] and given[1]:
        if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
            pytest.fail("on servers that were given one worker tests alone, or one hears the other: TEST_WORKERS=0")
        yield ServerUrls(postgres=given[0], redis=given[1])
    elif given[0] or given[1]:
        pytest.fail("KHRAP_TEST_DATABASE_URL and KHRAP_TEST_REDIS_URL: give both or neither")
    elif BACKEND == "containers":
        yield from _containers()
    elif BACKEND == "embedded":
        with _own_folder() as folder, EmbeddedServers.start(folder) as servers:
            yield ServerUrls(postgres=servers.postgres_url, redis=servers.redis_url)
    else:
        pytest.fail(f"KHRAP_TEST_BACKEND is {BACKEND!r}; right are embedded and containers")


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Not under pytest's own, which is closed to the user whom root turns the servers over to."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-test-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def _containers() -> Iterator[ServerUrls]:
    from testcontainers.community.postgres import PostgresContainer
    from testcontainers.community.redis import RedisContainer

    postgres = PostgresContainer(POSTGRES_IMAGE, username="khrap", password="khrap", dbname="khrap", driver=None)
    with postgres.with_command("-c max_connections=200") as database, RedisContainer(REDIS_IMAGE) as redis:
        host, port = redis.get_container_host_ip(), redis.get_exposed_port(redis.port)
        yield ServerUrls(postgres=database.get_connection_url(), redis=f"redis://{host}:{port}/0")


@pytest.fixture(scope="session")
def postgres_url(server_urls: ServerUrls) -> str:
    """A superuser's URL."""
    return server_urls.postgres


@pytest.fixture(scope="session")
def redis_url(server_urls: ServerUrls) -> str:
    """Valkey's or Redis's URL."""
    return server_urls.redis


@pytest.fixture(scope="session")
def template(postgres_url: str) -> Iterator[str]:
    """The name of a migrated database, from which `fresh_database` makes copies."""
    name = _name()
    _execute(postgres_url, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    asyncio.run(migrate(with_database(postgres_url, name), FOLDERS))
    yield name
    _execute(postgres_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def fresh_database(postgres_url: str, template: str) -> Callable[[], AbstractContextManager[Database]]:
    """A context manager that makes a migrated database and drops it at the end."""

    @contextmanager
    def make() -> Iterator[Database]:
        name = _name()
        identifiers = sql.Identifier(name), sql.Identifier(template)
        _execute(postgres_url, sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*identifiers))
        try:
            owner_url = with_database(postgres_url, name)
            # A copy is a log of its own: what Redis remembers of one must not be held against another.
            _execute(owner_url, sql.SQL("UPDATE store.layout SET log_id = gen_random_uuid()"))
            yield Database(name=name, owner_url=owner_url, app_url=as_application(owner_url))
        finally:
            _execute(postgres_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifiers[0]))

    return make


@pytest.fixture
def database(fresh_database: Callable[[], AbstractContextManager[Database]]) -> Iterator[Database]:
    """A fresh, migrated database for one test."""
    with fresh_database() as made:
        yield made


@pytest.fixture(scope="module")
def module_database(fresh_database: Callable[[], AbstractContextManager[Database]]) -> Iterator[Database]:
    """A fresh, migrated database for the tests of one module."""
    with fresh_database() as made:
        yield made


def with_database(url: str, name: str) -> str:
    """The same server's URL for another database."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def as_application(url: str) -> str:
    """The URL as the application's role: logged in as that role on our own servers, elsewhere switched to it.

    The role has no password, and elsewhere one may be asked for.
    """
    parts = urlsplit(url)
    if parts.netloc == f"{OWNER}@":
        return parts._replace(netloc=f"{APP_ROLE}@").geturl()
    option = quote(f"-c role={APP_ROLE}")
    return parts._replace(query="&".join(filter(None, [parts.query, f"options={option}"]))).geturl()


def _name() -> str:
    return f"khrap_test_{uuid.uuid4().hex}"


def _execute(url: str, statement: sql.SQL | sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
