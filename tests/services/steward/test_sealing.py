"""The schedule of checkpoints: so long after the last one, and only where there is something new."""

from __future__ import annotations

import asyncio
import contextlib

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from infra.audit import Checkpoints
from infra.clock import ManualClock
from infra.store import EventStore
from services.steward.sealing import AGAIN_S, LATER_S, Sealing
from tests.conftest import Database
from tests.infra.store.streams import new_stream, write

NOW = 1_767_323_045_678
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


async def test_it_seals_when_it_is_time_and_there_is_something_new(database: Database) -> None:
    clock = ManualClock(NOW)
    async with (
        await EventStore.open(database.app_url) as store,
        Checkpoints(database.app_url, store.parts, KEY) as checkpoints,
    ):
        sealing = Sealing(checkpoints, clock, 600)
        assert await sealing.look() == 600
        assert await checkpoints.latest() is None
        head = await write(store, new_stream(), 2)
        assert await sealing.look() == 600
        first = await checkpoints.latest()
        assert first is not None
        assert (first.number, first.at_ms) == (1, NOW)
        await write(store, head, 1)
        clock.advance(599_000)
        assert await sealing.look() == 1
        assert await checkpoints.latest() == first
        clock.advance(1_000)
        assert await sealing.look() == 600
        second = await checkpoints.latest()
        assert second is not None
        assert (second.number, second.previous, sum(part.size for part in second.sealed)) == (2, first.hash, 3)
        clock.advance(600_000)
        assert await sealing.look() == 600
        assert await checkpoints.latest() == second


async def test_two_stewards_make_one_checkpoint(database: Database) -> None:
    clock = ManualClock(NOW)
    async with (
        await EventStore.open(database.app_url) as store,
        Checkpoints(database.app_url, store.parts, KEY) as one,
        Checkpoints(database.app_url, store.parts, KEY) as other,
    ):
        await write(store, new_stream(), 2)
        await asyncio.gather(*[Sealing(each, clock, 600).look() for each in (one, other)])
        assert len(await one.page(0, 10)) == 1


async def test_a_store_that_is_away_is_waited_for(database: Database) -> None:
    async with Checkpoints("postgresql:///none?host=/nowhere", 256, KEY) as checkpoints:
        assert await Sealing(checkpoints, ManualClock(NOW), 600).look() == AGAIN_S


@pytest.mark.parametrize(
    "wrong",
    [
        "update store.checkpoint set sealed = 'x'",
        "delete from store.node",
        "revoke insert on store.checkpoint from khrap_app",
        "delete from store.event where pos = 300",
    ],
)
async def test_checkpoints_that_cannot_be_made_stop_no_steward(database: Database, wrong: str) -> None:
    clock = ManualClock(NOW)
    async with (
        await EventStore.open(database.app_url) as store,
        Checkpoints(database.app_url, store.parts, KEY) as checkpoints,
    ):
        head = await write(store, new_stream(), 1, events=299)
        assert await Sealing(checkpoints, clock, 600).look() == 600
        clock.advance(600_000)
        await write(store, head, 2)
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute(wrong.encode())
        assert await Sealing(checkpoints, clock, 600).look() in (AGAIN_S, LATER_S)


async def test_it_runs_until_it_is_cancelled(database: Database) -> None:
    async with (
        await EventStore.open(database.app_url) as store,
        Checkpoints(database.app_url, store.parts, KEY) as checkpoints,
    ):
        await write(store, new_stream(), 2)
        task = asyncio.create_task(Sealing(checkpoints, ManualClock(NOW), 600).run())
        async with asyncio.timeout(10):
            while await checkpoints.latest() is None:  # noqa: ASYNC110 (nothing announces it)
                await asyncio.sleep(0.01)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
