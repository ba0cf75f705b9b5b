"""Leases: everything is done by one of the living, shared evenly, and taken over from who is gone."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from infra.faults import Fault
from infra.leases import Leases, leases, shared
from tests.conftest import Database


def test_everybody_comes_to_the_same_shares() -> None:
    """What only one can do is his; the rest goes to who has least; what is done stays where it is."""
    both = [(name, who, False) for name in ("a", "b", "c", "d") for who in ("x", "y")]
    assert shared([*both, ("e", "y", False)]) == {"y": ["e", "c"], "x": ["a", "b", "d"]}
    doing = [(name, who, who == "y" and name != "b") for name, who, _ in reversed(both)]
    assert shared(doing) == {"y": ["a", "c"], "x": ["b", "d"]}
    assert shared(doing, first=["d"]) == {"y": ["d", "a"], "x": ["b", "c"]}
    assert shared([])["nobody"] == []


async def test_shared_evenly_given_up_and_taken_over(database: Database) -> None:
    names = {"a", "b", "c", "d"}
    first, second = Leases(database.app_url), Leases(database.app_url)
    assert await first.share(names) == names
    assert await second.share(names) == frozenset()  # nothing is taken away
    kept = await first.share(names)
    taken = await second.share(names)
    assert len(kept) == len(taken) == 2
    assert kept | taken == names
    await first.close()
    assert await second.share(names) == names
    await second.close()


async def test_who_is_silent_loses_what_he_held(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed or stopped says nothing more; when it is back it shares anew."""
    monkeypatch.setattr(leases, "LEASE_S", 0.2)
    silent, other = Leases(database.app_url), Leases(database.app_url)
    assert await silent.share({"a"}) == {"a"}
    assert await other.share({"a"}) == frozenset()
    async with asyncio.timeout(10):
        while not await other.share({"a"}):  # noqa: ASYNC110  # nobody says that it has run out
            await asyncio.sleep(0.02)
    monkeypatch.setattr(leases, "LEASE_S", 60.0)
    assert await other.share({"a"}) == {"a"}
    assert await silent.share({"a"}) == frozenset()
    assert await other.share({"a"}) == {"a"}
    for each in (silent, other):
        await each.close()


async def test_a_lost_connection_is_a_fault_and_made_anew(database: Database) -> None:
    mine = Leases(database.app_url)
    assert await mine.share({"a"}) == {"a"}
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    with pytest.raises(Fault, match="store_unavailable"):
        await mine.share({"a"})
    assert await mine.share({"a"}) == {"a"}
    await mine.close()
