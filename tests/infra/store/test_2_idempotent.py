"""Promise 2: a command that is sent again is stored once, and answered with what was stored."""

from __future__ import annotations

import asyncio
import time
import uuid

import pytest

from infra.store import Appended, Conflict, Duplicate, EventStore
from tests.conftest import Database
from tests.infra.store.streams import command, event, head_of, killing, new_stream, write

WHILE_S = 1.5


async def test_2_a_command_sent_again_gets_the_original_range(store: EventStore) -> None:
    """The second decision may differ in all but the target: it has other times and seeds, and a later version."""
    table, account = new_stream(), new_stream("account")
    command_id = uuid.uuid4().bytes
    first = await store.append(
        command((table, [event("1"), event("2")]), (account, [event("3")]), command_id=command_id)
    )
    moved = await write(store, head_of(first), 3)
    for again in (
        command((table, [event("1"), event("2")]), (account, [event("3")]), command_id=command_id),
        command((moved, [event("9")]), command_id=command_id),
        command((moved, [event("9")]), (new_stream("account"), [event("9")]), command_id=command_id),
    ):
        verdict = await store.append(again)
        assert isinstance(verdict, Duplicate)
        assert [(each.stream, each.seq, each.idx, each.body) for each in verdict.events] == [
            (table.stream, 1, 0, b"1"),
            (table.stream, 2, 1, b"2"),
            (account.stream, 1, 2, b"3"),
        ]
    assert await store.head(moved.stream) == moved


async def test_2_a_duplicate_is_told_before_a_conflict(store: EventStore) -> None:
    head = new_stream()
    given = command((head, [event()]))
    await write(store, head_of(await store.append(given)), 1)
    assert isinstance(await store.append(given), Duplicate)
    assert isinstance(await store.append(command((head, [event()]))), Conflict)


@pytest.mark.parametrize("same", [True, False], ids=["same bytes", "decided anew"])
async def test_2_sent_at_once_on_two_processes_it_is_stored_once(
    database: Database, store: EventStore, other: EventStore, same: bool
) -> None:
    """Every command goes to both processes at once, while back-ends are killed: one effect, one answer."""

    async def play() -> int:
        head = new_stream()
        commands = 0
        stop = time.monotonic() + WHILE_S
        while time.monotonic() < stop:
            command_id = uuid.uuid4().bytes
            bodies = ("1", "1", "1") if same else ("1", "2", "3")
            verdicts = await asyncio.gather(
                *[
                    each.append(command((head, [event(body)]), command_id=command_id))
                    for each, body in zip((store, other, store), bodies, strict=True)
                ]
            )
            heads = {
                (each.heads[0].seq, each.heads[0].hash)
                if isinstance(each, Appended)
                else (each.events[0].seq, each.events[0].hash)
                for each in verdicts
                if not isinstance(each, Conflict)
            }
            assert not any(isinstance(each, Conflict) for each in verdicts)
            ((seq, hash_),) = heads
            assert seq == head.seq + 1
            appended = [each for each in verdicts if isinstance(each, Appended)]
            # With the same bytes a sender whose answer was lost cannot tell whose it is that he finds, nor need he.
            assert len(appended) == 1 or (same and len(appended) > 1)
            head = type(head)(head.stream, seq, hash_)
            commands += 1
        assert len(await store.read_stream(head.stream)) == commands
        return commands

    async with killing(database.owner_url) as killed:
        assert sum(await asyncio.gather(*[play() for _ in range(8)])) > 50
    assert len(killed) >= 5
    assert (await store.verify()).is_intact


async def test_2_a_command_is_found_in_the_parts_of_its_streams(store: EventStore) -> None:
    table, account = new_stream(), new_stream("account")
    given = command((table, [event("1")]), (account, [event("2")]))
    assert await store.find_command(given.command_id, [table.stream, account.stream]) == ()
    await store.append(given)
    found = await store.find_command(given.command_id, [account.stream, table.stream])
    assert [each.body for each in found] == [b"1", b"2"]


async def test_2_a_refused_command_is_not_remembered(store: EventStore) -> None:
    head = new_stream()
    moved = await write(store, head, 1)
    refused = command((head, [event()]))
    assert isinstance(await store.append(refused), Conflict)
    assert isinstance(await store.append(command((moved, [event()]), command_id=refused.command_id)), Appended)
