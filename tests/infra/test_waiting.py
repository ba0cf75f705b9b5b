"""A cancellation is never swallowed, whoever waits."""

from __future__ import annotations

import asyncio

import pytest

import infra  # noqa: F401 (mends asyncio where it is to be mended)


async def test_a_cancellation_that_comes_with_the_result_is_not_swallowed() -> None:
    """On Python 3.11 the waiter went on as if nothing had been said."""
    event = asyncio.Event()

    async def wait_twice() -> None:
        await asyncio.wait_for(event.wait(), 10)
        await asyncio.sleep(3_600)

    task = asyncio.create_task(wait_twice())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    event.set()
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_it_times_out_and_cancels_what_it_waited_for() -> None:
    never = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(never, 0.01)
    assert never.cancelled()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.sleep(1), 0)
    assert await asyncio.wait_for(asyncio.sleep(0, "there"), None) == "there"
