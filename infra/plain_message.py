"""The plain reference of the live benchmark: a message published in Redis, and received."""

from __future__ import annotations

import asyncio
import time

from redis.asyncio.client import PubSub

from infra.redis import connect

CHANNEL = "khrap:bench"


async def publish_to_receive(url: str, count: int, size: int) -> list[float]:
    """How long each of `count` messages of `size` bytes takes to its receiver, one after another; milliseconds."""
    taken: list[float] = []
    redis, listening = connect(url), connect(url)
    pubsub = listening.pubsub(ignore_subscribe_messages=True)
    try:
        await pubsub.subscribe(CHANNEL)
        await pubsub.get_message(timeout=1.0)
        for _ in range(count):
            began = time.perf_counter()
            _, at = await asyncio.gather(redis.publish(CHANNEL, b"x" * size), _arrival(pubsub))
            taken.append((at - began) * 1_000)
    finally:
        await pubsub.aclose()  # type: ignore[no-untyped-call]
        await redis.aclose()
        await listening.aclose()
    return taken


async def _arrival(pubsub: PubSub) -> float:
    while await pubsub.get_message(timeout=1.0) is None:
        pass
    return time.perf_counter()
