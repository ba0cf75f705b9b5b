"""`khrap bench append`: events a second through the store, beside plain INSERTs. DESIGN "The event store"."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from domain.cards import Card
from domain.events import CardPlayed
from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.meta import Meta, command_id, encode_meta, request_digest
from infra.pgbench import insert_rate
from infra.sealing import Sealer
from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend, StreamHead
from services.bench.common import Report, machine, median, percentile, temporary_home
from services.core import prepare, servers

CALLERS = (1, 16, 64, 256)
ROUNDS = 5
"""Ours and the reference take turns, so that both meet the same machine: the ratio is the median of the turns'."""
SUBJECT = "anna"

Progress = Callable[[int, int | None, str], None]


async def bench_append(seconds: float, progress: Progress, callers: Sequence[int] = CALLERS) -> Report:
    """Each case is measured for about `seconds`, and its reference as long. Raises Fault."""
    rows = []
    with temporary_home() as settings:
        async with servers(settings) as addresses:
            await prepare(settings, addresses)
            assert addresses.owner is not None
            async with await EventStore.open(addresses.application) as store:
                for number, count in enumerate(callers):
                    progress(number, len(callers), f"{count} callers")
                    rows.append(await _case(store, addresses.owner, count, seconds))
    return Report("append", machine(), tuple(rows), {row["case"]: row["ratio"] for row in rows})


async def _case(store: EventStore, owner_url: str, callers: int, seconds: float) -> dict[str, Any]:
    """One number of callers: a first turn that is not counted, then ours and the reference in turn."""
    each_s = seconds / ROUNDS
    event = _event()
    await _appends(store, event, callers, 0.3)
    ours, reference, latencies = [], [], []
    for _ in range(ROUNDS):
        reference.append(await insert_rate(owner_url, callers, max(1, round(each_s)), row_bytes(event)))
        rate, taken = await _appends(store, event, callers, each_s)
        ours.append(rate)
        latencies += taken
    return {
        "case": str(callers),
        "callers": callers,
        "events_per_s": round(median(ours)),
        "median_ms": round(median(latencies) * 1_000, 3),
        "p99_ms": round(percentile(latencies, 0.99) * 1_000, 3),
        "reference_per_s": round(median(reference)),
        "ratio": round(median([one / other for one, other in zip(ours, reference, strict=True)]), 3),
        "reference": f"pgbench INSERT, {row_bytes(event)} bytes",
    }


async def _appends(store: EventStore, event: NewEvent, callers: int, seconds: float) -> tuple[float, list[float]]:
    """Events a second, and how many seconds each append took."""
    latencies: list[float] = []
    entropy = SystemEntropy()
    begun = time.perf_counter()
    stop = begun + seconds

    async def call() -> None:
        stream = f"table-{entropy.uuid7(time.time_ns() // 1_000_000)}"
        head = StreamHead(stream, 0, GENESIS)
        sent = time.perf_counter()
        while sent < stop:
            id_ = command_id(SUBJECT, stream, str(head.seq))
            verdict = await store.append(Append(id_, (StreamAppend(stream, head.seq, head.hash, (event,)),)))
            assert isinstance(verdict, Appended)
            (head,) = verdict.heads
            now = time.perf_counter()
            latencies.append(now - sent)
            sent = now

    await asyncio.gather(*[call() for _ in range(callers)])
    return len(latencies) / (time.perf_counter() - begun), latencies


def _event() -> NewEvent:
    """A card played, with the meta of a player's action: what most events are."""
    key = bytes(32)
    digest = request_digest(key, "POST", "/v1/tables/x/actions", b"{}")
    meta = encode_meta(Meta(at_ms=1_767_323_045_678, subject=SUBJECT, role="player", by="player", request=digest))
    codec = Codec(Sealer(key, SystemEntropy()))
    return codec.encode(CardPlayed(seat=1, card=Card("As")), "table", 1, meta)


def row_bytes(event: NewEvent) -> int:
    """What an event's row holds: stream, type, body, meta, hash (32), command id (16), and 22 of numbers."""
    return len(f"table-{'-' * 36}") + len(event.type) + len(event.body) + len(event.meta) + 32 + 16 + 22
