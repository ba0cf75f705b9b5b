"""Promise 5: who goes into which group."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence

from infra.store import GENESIS, Append, StreamAppend
from infra.store.group import Item
from infra.store.queue import GROUP_COMMANDS, PARALLEL_FROM, Queue
from tests.infra.store.streams import event

PARTS = 256


def item(*streams: str, bytes_: int = 2) -> Item:
    """A command that appends one event to each stream."""
    append = Append(
        uuid.uuid4().bytes, tuple(StreamAppend(stream, 0, GENESIS, (event("x" * bytes_),)) for stream in streams)
    )
    return Item(append, PARTS, asyncio.get_running_loop().create_future(), 0.0)


def apart(count: int) -> list[Item]:
    """Commands for streams of different parts."""
    found: dict[int, Item] = {}
    number = 0
    while len(found) < count:
        made = item(f"table-{number}")
        found.setdefault(made.parts[0], made)
        number += 1
    return list(found.values())


def filled(lanes: int, items: Sequence[Item]) -> Queue:
    """A queue in which these wait."""
    queue = Queue(lanes)
    for each in items:
        queue.put(each)
    return queue


async def takes_nothing(queue: Queue) -> bool:
    """Whether a taker would have to wait."""
    taker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    taker.cancel()
    return not taker.done()


async def test_5_all_that_wait_go_together() -> None:
    items = apart(20)
    queue = filled(1, items)
    assert await queue.take() == items
    assert (queue.waiting, queue.committing) == (0, 20)


async def test_5_a_group_has_one_command_a_stream_and_keeps_their_order() -> None:
    first, second, third = item("a"), item("a"), item("a")
    other = item("b")
    queue = filled(1, [first, second, other, third])
    for expected in ([first, other], [second], [third]):
        group = await queue.take()
        assert group == expected
        queue.done(group)


async def test_5_nobody_overtakes_a_command_over_many_streams() -> None:
    first, both, late = item("a"), item("a", "b"), item("b")
    queue = filled(1, [first, both, late])
    for expected in ([first], [both], [late]):
        group = await queue.take()
        assert group == expected
        queue.done(group)


async def test_5_few_wait_for_the_commit_under_way_and_many_take_another_lane() -> None:
    first, *rest = apart(PARALLEL_FROM + 1)
    queue = filled(2, [first])
    under_way = await queue.take()
    for each in rest[:-1]:
        queue.put(each)
    assert await takes_nothing(queue)
    queue.put(rest[-1])
    assert await queue.take() == rest
    queue.done(under_way)


async def test_5_many_are_shared_among_the_idle_lanes() -> None:
    items = apart(4 * PARALLEL_FROM)
    queue = filled(2, items)
    half = 2 * PARALLEL_FROM
    assert await queue.take() == items[:half]
    assert await queue.take() == items[half:]


async def test_5_lanes_never_share_a_part() -> None:
    items = apart(PARALLEL_FROM)
    queue = filled(2, items)
    group = await queue.take()
    again = [item(*each.streams) for each in items]
    for each in again:
        queue.put(each)
    assert await takes_nothing(queue)
    queue.done(group)
    assert await queue.take() == again


async def test_5_a_group_is_bounded() -> None:
    queue = filled(1, [item(f"table-{number}") for number in range(GROUP_COMMANDS + 1)])
    assert len(await queue.take()) == GROUP_COMMANDS
    large = filled(1, [item(f"table-{number}", bytes_=1_500_000) for number in range(4)])
    assert len(await large.take()) == 3


async def test_5_a_closed_queue_gives_what_waits_and_then_nothing() -> None:
    queue = filled(2, [item("a")])
    queue.close()
    group = await queue.take()
    assert len(group) == 1
    queue.done(group)
    assert await queue.take() == []
