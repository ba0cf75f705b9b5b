"""R6: the keys of disputes on a real database: one each, wrapped, and destroyed for good."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from infra.dispute_keys import DisputeKeys
from infra.dispute_keys.keys import PAD_TO
from infra.entropy import SystemEntropy
from infra.faults import Fault
from infra.sealing import Sealer
from tests.conftest import Database

FIRST, SECOND = (f"018f0000-0000-7000-8000-00000000000{n}" for n in (1, 2))
STREAM = f"dispute-{FIRST}"


@pytest.fixture
async def keys(database: Database) -> AsyncIterator[DisputeKeys]:
    made = DisputeKeys(database.app_url, Sealer(bytes(32), SystemEntropy()), SystemEntropy())
    yield made
    await made.close()


async def test_r6_a_text_opens_in_its_place_under_its_own_key_alone(keys: DisputeKeys) -> None:
    key = await keys.make(FIRST, 1)
    other = await keys.make(SECOND, 1)
    assert key is not None
    assert other is not None
    sealed = key.seal(STREAM, 1, "Карта была не моя")
    again = await keys.get(FIRST)
    assert again is not None
    assert again.open(STREAM, 1, sealed) == "Карта была не моя"
    for wrong, stream, seq in ((other, STREAM, 1), (again, STREAM, 2), (again, f"dispute-{SECOND}", 1)):
        with pytest.raises(Fault, match="seal_broken"):
            wrong.open(stream, seq, sealed)


async def test_r6_a_key_that_is_destroyed_is_gone_and_no_new_one_is_made(keys: DisputeKeys) -> None:
    first = await keys.make(FIRST, 1)
    assert first is not None
    await keys.erase(FIRST, 2)
    await keys.erase(FIRST, 3)
    assert await keys.get(FIRST) is None
    assert await keys.make(FIRST, 4) is None
    assert await keys.get(SECOND) is None


async def test_r6_what_is_stored_opens_with_the_master_key_and_for_its_dispute_alone(
    keys: DisputeKeys, database: Database
) -> None:
    await keys.make(FIRST, 1)
    stranger = DisputeKeys(database.app_url, Sealer(bytes([1]) * 32, SystemEntropy()), SystemEntropy())
    with pytest.raises(Fault, match="seal_broken"):
        await stranger.get(FIRST)
    await stranger.close()
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("insert into dispute.key select %s, wrapped, made_ms from dispute.key", [SECOND])
    with pytest.raises(Fault, match="seal_broken"):
        await keys.get(SECOND)


async def test_r6_the_application_keeps_the_row(keys: DisputeKeys, database: Database) -> None:
    await keys.make(FIRST, 1)
    with (
        psycopg.connect(database.app_url, autocommit=True) as application,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        application.execute("delete from dispute.key")


async def test_r6_a_text_s_length_tells_little(keys: DisputeKeys) -> None:
    key = await keys.make(FIRST, 1)
    assert key is not None
    assert len(key.seal(STREAM, 1, "no")) == len(key.seal(STREAM, 1, "x" * PAD_TO))
    assert key.digest("d") != key.digest("e")
