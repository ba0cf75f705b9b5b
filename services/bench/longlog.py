"""A long log, made fast: many tables of all games, played out by the domain in several processes, and appended."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from msgspec import Struct

from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.sealing import Sealer
from infra.store import EventStore
from services.bench.history import Past
from services.bench.selfplay import EVENINGS, settings_of
from services.core import Core

AT_ONCE = 8
"""Tables that a process plays at a time: their events lie mixed in the log, as in a real one."""
HANDS_AT_ONCE = 20
LONGEST = 20_000
"""No table gets more events than about so many."""
LOOK_S = 0.5


class Share(Struct, frozen=True):
    """What one process makes: `events`, over an event store at `url`."""

    url: str
    master: bytes
    events: int
    first: int


async def make_log(core: Core, events: int, progress: Callable[[int], None]) -> int:
    """Append about `events` events of whole hands to the store; how many there are then in all."""
    processes = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1))
    url, master = core.addresses.application, core.keys.master
    shares = [Share(url, master, events // processes, n * 1_000_000) for n in range(processes)]
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        making = asyncio.gather(*(loop.run_in_executor(pool, _made, share) for share in shares))
        while not making.done():
            progress(sum((await core.store.part_heads()).values()))
            await asyncio.wait([making], timeout=LOOK_S)
        await making
    return sum((await core.store.part_heads()).values())


def _made(share: Share) -> None:
    asyncio.run(_make(share))


async def _make(share: Share) -> None:
    entropy = SystemEntropy()
    sealer = Sealer(share.master, entropy)
    codec = Codec(sealer)
    each = min(LONGEST, max(500, share.events // (4 * AT_ONCE)))
    games = list(EVENINGS)
    made, number = 0, share.first

    async def play(store: EventStore) -> None:
        nonlocal made, number
        while made < share.events:
            number += 1
            settings = settings_of(EVENINGS[games[number % len(games)]])
            past = Past(store, codec, sealer, entropy, entropy.uuid7(1_700_000_000_000 + number), settings)
            await past.begin()
            while past.events < each and made < share.events:
                before = past.events
                await past.hands(HANDS_AT_ONCE)
                made += past.events - before

    async with await EventStore.open(share.url, lanes=1) as store:
        await asyncio.gather(*(play(store) for _ in range(AT_ONCE)))
