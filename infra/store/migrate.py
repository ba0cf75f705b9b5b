"""Forward-only migrations: numbered SQL files, each run once, in its own transaction, as the owner of the schemas.

A folder is a room's own row of migrations, `0001_what.sql`, `0002_…`; several can share a database. What has run is
recorded with its checksum: a file that was changed afterwards is found, and so is a database newer than the code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import tuple_row

from infra.faults import Fault
from infra.store.connect import Unavailable, reason
from infra.store.queries import SQL

PARTS = 256
LOCK = 0x6B68726170  # "khrap": one migration of a database at a time
_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")

State = Literal["applied", "pending", "changed", "unknown"]


class Folder(Struct, frozen=True):
    """A row of migrations under a name of its own."""

    name: str
    path: Path


STORE = Folder("store", SQL / "migrations")


class Migration(Struct, frozen=True):
    """A migration and where it stands: `changed` since it was applied, `unknown` to this code."""

    folder: str
    number: int
    name: str
    state: State


class _File(Struct, frozen=True):
    folder: str
    number: int
    name: str
    text: bytes

    @property
    def checksum(self) -> bytes:
        return hashlib.sha256(self.text).digest()


async def migrate(url: str, folders: Sequence[Folder] = (STORE,), parts: int | None = None) -> list[Migration]:
    """Bring a database up to date; what was applied now, in order. Any number of processes may do it at once.

    `url` logs in as a superuser, or as the database's owner with CREATEROLE. `parts` is fixed by the first migration
    (default 256). Raises `Fault`: `migration_changed`, `migration_unknown`, `parts_fixed`, `store_unavailable`.
    """
    try:
        return await _migrate(url, folders, parts)
    except Unavailable as error:  # lost on the way: what was applied stays, and the rest can be done again
        raise Fault("store_unavailable", reason(error)) from error


async def _migrate(url: str, folders: Sequence[Folder], parts: int | None) -> list[Migration]:
    files = [file for folder in folders for file in _files(folder)]
    async with await _connect(url) as connection:
        # Held by the session: if this process dies, the server lets go of it.
        await connection.execute("select pg_advisory_lock(%s)", (LOCK,))
        for name in ("roles", "migration"):
            await connection.execute((SQL / "bootstrap" / f"{name}.sql").read_bytes())
        await connection.execute("set role khrap_owner")
        await connection.execute("select set_config('khrap.parts', %s, false)", (str(parts or PARTS),))
        done = await _done(connection)
        for migration in _standing(files, done):
            if migration.state in ("changed", "unknown"):
                raise Fault(f"migration_{migration.state}", _complaint(migration))
        applied = []
        for file in files:
            if (file.folder, file.number) not in done:
                async with connection.transaction():
                    await connection.execute(file.text)
                    await connection.execute(
                        "insert into store.migration (folder, number, name, checksum) values (%s, %s, %s, %s)",
                        (file.folder, file.number, file.name, file.checksum),
                    )
                applied.append(Migration(file.folder, file.number, file.name, "applied"))
        row = await (await connection.execute("select parts from store.layout")).fetchone()
        if parts is not None and row is not None and row[0] != parts:
            raise Fault("parts_fixed", f"this store has {row[0]} parts, fixed when it was made; asked for were {parts}")
        return applied


async def db_status(url: str, folders: Sequence[Folder] = (STORE,)) -> list[Migration]:
    """Every migration and where it stands. The application's role may ask. Raises `Fault("store_unavailable")`."""
    files = [file for folder in folders for file in _files(folder)]
    try:
        async with await _connect(url) as connection:
            row = await (await connection.execute("select to_regclass('store.migration') is not null")).fetchone()
            done = await _done(connection) if row is not None and row[0] else {}
    except Unavailable as error:
        raise Fault("store_unavailable", reason(error)) from error
    return _standing(files, done)


async def _connect(url: str) -> AsyncConnection[Any]:
    try:
        return await AsyncConnection.connect(url, autocommit=True, row_factory=tuple_row)
    except psycopg.OperationalError as error:
        raise Fault("store_unavailable", reason(error)) from error


async def _done(connection: AsyncConnection[Any]) -> dict[tuple[str, int], tuple[str, bytes]]:
    """(folder, number) → name and checksum of what has run."""
    cursor = await connection.execute("select folder, number, name, checksum from store.migration")
    return {(folder, number): (name, bytes(checksum)) for folder, number, name, checksum in await cursor.fetchall()}


def _files(folder: Folder) -> list[_File]:
    """The folder's migrations, in order. They are numbered from 1 without a hole."""
    files = []
    for path in sorted(folder.path.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        assert match is not None, f"{path.name} is not named like 0001_what.sql"
        files.append(_File(folder.name, int(match[1]), match[2], path.read_bytes()))
    assert [file.number for file in files] == list(range(1, len(files) + 1)), f"{folder.path} has a number twice or not"
    return files


def _standing(files: Sequence[_File], done: Mapping[tuple[str, int], tuple[str, bytes]]) -> list[Migration]:
    known = {(file.folder, file.number) for file in files}
    folders = {file.folder for file in files}
    standing = [Migration(file.folder, file.number, file.name, _state(file, done)) for file in files]
    standing += [
        Migration(folder, number, name, "unknown")
        for (folder, number), (name, _) in sorted(done.items())
        if folder in folders and (folder, number) not in known
    ]
    return standing


def _state(file: _File, done: Mapping[tuple[str, int], tuple[str, bytes]]) -> State:
    if (file.folder, file.number) not in done:
        return "pending"
    return "applied" if done[file.folder, file.number][1] == file.checksum else "changed"


def _complaint(migration: Migration) -> str:
    name = f"{migration.folder}/{migration.number:04d}_{migration.name}.sql"
    if migration.state == "changed":
        return f"{name} was changed after it was applied; migrations are never edited, add a new one"
    return f"{name} was applied by a newer version of the service; update this one"
