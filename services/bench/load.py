"""`khrap bench load`: a table loads as fast with 10,000 hands behind it as with 10. DESIGN "Streams and events"."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from infra.entropy import SystemEntropy
from services.bench.common import Report, machine, median, percentile, temporary_home
from services.bench.history import Past
from services.bench.selfplay import EVENINGS, settings_of
from services.core import Core, open_core
from services.play.service import Play

FEW = 10
INTO_HAND = 20
"""Both tables are in the middle of a hand, so many events into it: what has to be folded is alike."""
LOADS = 400
WARM_UP = 20

Progress = Callable[[int, int | None, str], None]


async def bench_load(hands: int, progress: Progress) -> Report:
    """Load both tables in turn, each time by a process's first look: the median time of each. Raises Fault."""
    with temporary_home() as settings:
        async with open_core(settings) as core:
            few, many = [await _past(core) for _ in range(2)]
            await few.hands(FEW)
            await many.hands(hands, lambda done: progress(done, hands, "playing the past"))
            for past in (few, many):
                await past.part_of_a_hand(INTO_HAND)
            times: dict[int, list[float]] = {FEW: [], hands: []}
            for n in range(LOADS + WARM_UP):
                progress(n, LOADS + WARM_UP, "loading")
                for count, past in ((FEW, few), (hands, many)):
                    taken_s = await _load(core, past)
                    if n >= WARM_UP:
                        times[count].append(taken_s)
            reference = median(times[FEW])
            rows = [_row(count, past, times[count], f"{FEW} hands") for count, past in ((FEW, few), (hands, many))]
            return Report("load", machine(), tuple(rows), {str(hands): round(reference / median(times[hands]), 3)})


async def _past(core: Core) -> Past:
    entropy = SystemEntropy()
    settings = settings_of(EVENINGS["khrap"])
    past = Past(core.store, core.codec, core.sealer, entropy, entropy.uuid7(core.clock.now_ms()), settings)
    await past.begin()
    return past


async def _load(core: Core, past: Past) -> float:
    """Seconds until a process that knows nothing yet has the table."""
    play = Play(core.store, core.codec, core.sealer, core.clock, core.entropy)
    began = time.perf_counter()
    found = await play.table(past.table_id)
    taken_s = time.perf_counter() - began
    assert found is not None
    assert found[0] == past.events
    return taken_s


def _row(hands: int, past: Past, times: list[float], reference: str) -> dict[str, Any]:
    return {
        "case": str(hands),
        "hands": hands,
        "events": past.events,
        "median_ms": round(median(times) * 1_000, 3),
        "p99_ms": round(percentile(times, 0.99) * 1_000, 3),
        "loads": len(times),
        "reference": reference,
    }
