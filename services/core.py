"""What every part of the service stands on, made from settings: servers, keys, store, play."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from domain.events import Event, KeyLossFinished, KeyLost, LogRestored, LogRestoreFinished
from infra.clock import Clock, SystemClock
from infra.codec import Codec
from infra.embedded import EmbeddedServers
from infra.entropy import Entropy, SystemEntropy
from infra.faults import Fault
from infra.keys import Keys, load_keys
from infra.migrations import FOLDERS
from infra.presence import LONGEST_NAME, named
from infra.sealing import Sealer
from infra.settings import Settings
from infra.store import EventStore, StoredEvent
from infra.store.connect import APP_ROLE
from infra.store.migrate import Migration, db_status, migrate
from infra.witness import ahead
from services.play.service import Play

PATIENCE_S = 10.0
AGAIN_S = 0.3
KEY_TRIED = 5
"""So many tables are opened until one does."""
LOG = "log"
"""The stream in which it stands what was done to the log itself."""
RESTORING = "khrap restoring"
Result = TypeVar("Result")


class Addresses(Struct, frozen=True):
    """Where the servers are: Postgres as its owner (None where nobody told us) and as the application, and Redis."""

    owner: str | None
    application: str
    redis: str


class Core(Struct, frozen=True, kw_only=True):
    """What every part stands on."""

    settings: Settings
    addresses: Addresses
    keys: Keys
    clock: Clock
    entropy: Entropy
    sealer: Sealer
    codec: Codec
    store: EventStore
    play: Play


@asynccontextmanager
async def servers(settings: Settings) -> AsyncIterator[Addresses]:
    """The servers of the settings, or the embedded ones, held for as long as the block runs. Raises Fault."""
    if settings.database_url is not None:
        assert settings.redis_url is not None, "settings ask for both"
        yield Addresses(settings.database_owner_url, settings.database_url, settings.redis_url)
        return
    held = await asyncio.to_thread(EmbeddedServers.start, settings.home_folder)
    try:
        as_application = urlsplit(held.postgres_url)._replace(netloc=f"{APP_ROLE}@").geturl()
        yield Addresses(held.postgres_url, as_application, held.redis_url)
    finally:
        await asyncio.to_thread(held.close)


def restoring_name() -> str:
    """What the sessions of a process that sets a restored log going are called."""
    return f"{RESTORING} {os.getpid()}@{socket.gethostname()}"[:LONGEST_NAME]


async def prepare(settings: Settings, addresses: Addresses) -> None:
    """Have a store of this version: embedded it is made and brought up to date; elsewhere an empty database gets one.

    Raises Fault where there is something to do that is not ours to do: `khrap db init` or `migrate` says so.
    """
    if settings.is_embedded:
        assert addresses.owner is not None
        await migrate(addresses.owner, FOLDERS)
        return
    standing = await db_status(addresses.owner or addresses.application, FOLDERS)
    if all(each.state == "pending" for each in standing) and addresses.owner is not None:
        await migrate(addresses.owner, FOLDERS)
        return
    for each in standing:
        if each.state != "applied":
            raise Fault("store_not_migrated", _to_do(each, is_empty=all(e.state == "pending" for e in standing)))


def _to_do(migration: Migration, *, is_empty: bool) -> str:
    name = f"{migration.folder}/{migration.number:04d}_{migration.name}.sql"
    if migration.state != "pending":
        return f"the database's migration {name} is {migration.state} to this version of the service"
    command = "init" if is_empty else "migrate"
    return f"the database lacks {name}; run `khrap db {command}` with KHRAP_DATABASE_OWNER_URL"


async def patiently(work: Callable[[], Awaitable[Result]]) -> Result:
    """Do `work` again while the store is away, for a while: a start may fall into a restart of the server's."""
    loop = asyncio.get_running_loop()
    last = loop.time() + PATIENCE_S
    while True:
        try:
            return await work()
        except Fault as fault:
            if fault.code != "store_unavailable" or loop.time() > last:
                raise
        await asyncio.sleep(AGAIN_S)


async def check_key(store: EventStore, codec: Codec, tried: int = KEY_TRIED) -> None:
    """That the log was sealed under this key: one table that goes on is opened. Raises Fault(`wrong_key`).

    Where that does not open others are tried: altered bytes of one table are no matter of the key.
    """
    closed: Fault | None = None
    for stream in await store.streams_not_ended("table-", "table_closed"):
        # A closed table does not end with its closing where a hand of it was put right.
        last = await store.last_of(stream, ("hand_committed", "table_closed"), at_most=2**62)
        for event in await store.read_stream(stream, after=(last or 1) - 1, limit=1):
            if event.type == "table_closed":
                continue
            try:
                codec.decode(event)
            except Fault as fault:
                if fault.code == "seal_broken":
                    closed = closed or fault
            else:
                return
            tried -= 1
        if not tried:
            break
    if closed is not None:
        detail = "this log was sealed under another key: bring back master.key, or its KHRAP_MASTER_KEY_FILE"
        lost = "only where no copy of it is left, `khrap db key-lost` voids the hands that run"
        raise Fault("wrong_key", f"{detail}; {lost} ({closed.detail})") from closed


async def check_log(store: EventStore, addresses: Addresses) -> None:
    """That nobody knows of events that the log does not have. Raises Fault(`log_restored`)."""
    for each in await ahead(store, addresses.application, addresses.redis):
        raise each.fault()


async def unfinished(store: EventStore, begun: type[Event], finished: type[Event]) -> StoredEvent | None:
    """The `begun` of the `log` stream that no `finished` has followed: what follows from it is not all done."""
    tags = (str(begun.__struct_config__.tag), str(finished.__struct_config__.tag))
    last = await store.last_of(LOG, tags, at_most=2**62)
    stored = await store.read_stream(LOG, after=last - 1, limit=1) if last else []
    return stored[0] if stored and stored[0].type == tags[0] else None


async def check_restore(store: EventStore) -> None:
    """That no restore is half done: hands whose cards were seen would go on. Raises Fault(`restore_unfinished`)."""
    if await unfinished(store, LogRestored, LogRestoreFinished):
        raise Fault("restore_unfinished", _again("restored"))


async def check_key_loss(store: EventStore) -> None:
    """That no loss of the key is half done: some tables would not open. Raises Fault(`key_loss_unfinished`)."""
    if await unfinished(store, KeyLost, KeyLossFinished):
        raise Fault("key_loss_unfinished", _again("key-lost"))


def _again(command: str) -> str:
    begun = f"`khrap db {command}` was begun on this log and did not come to its end"
    return f"{begun}; run the command again, with all processes stopped: it goes on where it was"


@asynccontextmanager
async def open_core(
    settings: Settings,
    *,
    readers: int = 4,
    clock: Clock | None = None,
    restored: bool = False,
    key_lost: bool = False,
) -> AsyncIterator[Core]:
    """Servers, keys, store and play, closed in the other order at the end; the system's clock, unless another is given.

    Raises Fault, and `log_restored` where an older backup of the log was restored or `restore_unfinished` where what
    follows from that is half done, unless `restored` says that this is known; `wrong_key` where the key opens no table
    or `key_loss_unfinished`, unless `key_lost` says so. Then the sessions bear a name of their own, `RESTORING` and the
    process's number, so that they are told from those of other processes.
    """
    async with AsyncExitStack() as stack:
        keys = load_keys(settings)
        addresses = await stack.enter_async_context(servers(settings))
        if restored or key_lost:
            addresses = replace(addresses, application=named(addresses.application, restoring_name()))
        await patiently(lambda: prepare(settings, addresses))
        opened = await patiently(lambda: EventStore.open(addresses.application, readers=readers))
        store = await stack.enter_async_context(opened)
        clock, entropy = clock or SystemClock(), SystemEntropy()
        sealer = Sealer(keys.master, entropy)
        codec = Codec(sealer)
        if not key_lost:
            await patiently(lambda: check_key_loss(store))
            await patiently(lambda: check_key(store, codec))
        if not (restored or key_lost):
            await patiently(lambda: check_restore(store))
            await patiently(lambda: check_log(store, addresses))
        yield Core(
            settings=settings,
            addresses=addresses,
            keys=keys,
            clock=clock,
            entropy=entropy,
            sealer=sealer,
            codec=codec,
            store=store,
            play=Play(store, codec, sealer, clock, entropy),
        )
