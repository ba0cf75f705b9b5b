"""`khrap bench verify`: the whole log verified, beside plain SHA-256 over the same bytes. DESIGN "Audit"."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from infra.audit import Audited, Checkpoints, audit
from infra.entropy import SystemEntropy
from infra.plain_digest import plain_digest
from infra.store import GENESIS, Append, Appended, NewEvent, StreamAppend, StreamHead
from services.bench.common import Report, machine, median, temporary_home
from services.bench.history import Past
from services.bench.selfplay import EVENINGS, settings_of
from services.core import Core, open_core
from services.play.service import table_stream

ROUNDS = 3
"""Ours and the reference take turns: the ratio is the median of the turns'."""
HANDS = 60
"""So many hands are played; the tables of the log are copies of theirs, each chained anew."""
PER_COMMAND = 400
AT_ONCE = 64

Progress = Callable[[int, int | None, str], None]


async def bench_verify(events: int, progress: Progress) -> Report:
    """Verify a log of about `events` events, all of them sealed by a checkpoint. Raises Fault."""
    with temporary_home() as settings:
        async with (
            open_core(settings) as core,
            Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing) as checkpoints,
        ):
            await _log(core, events, progress)
            began = time.perf_counter()
            await checkpoints.seal(core.clock.now_ms())
            seal_s = time.perf_counter() - began
            ours, reference = [], []
            count = size = 0
            for turn in range(ROUNDS):
                progress(turn, ROUNDS, "reading plainly")
                count, size, taken_s = await asyncio.to_thread(plain_digest, core.addresses.application)
                reference.append(count / taken_s)
                progress(turn, ROUNDS, "verifying")
                began = time.perf_counter()
                audited = await audit(core.store, checkpoints)
                ours.append(count / (time.perf_counter() - began))
                _check(audited, count)
    ratio = round(median([one / other for one, other in zip(ours, reference, strict=True)]), 3)
    row = {
        "case": "1",
        "events": count,
        "bytes": size,
        "events_per_s": round(median(ours)),
        "seconds": round(count / median(ours), 2),
        "seal_s": round(seal_s, 2),
        "reference_per_s": round(median(reference)),
        "ratio": ratio,
        "reference": "SHA-256 over the rows of one COPY",
    }
    return Report("verify", machine(), (row,), {"1": ratio})


def _check(audited: Audited, events: int) -> None:
    assert audited.is_intact, audited.first
    assert (audited.events, audited.sealed) == (events, events)


async def _log(core: Core, events: int, progress: Progress) -> None:
    """Tables whose events have the bytes of hands that were played."""
    entropy = SystemEntropy()
    settings = settings_of(EVENINGS["khrap"])
    past = Past(core.store, core.codec, core.sealer, entropy, entropy.uuid7(core.clock.now_ms()), settings)
    await past.begin()
    await past.hands(HANDS)
    played = await core.store.read_stream(table_stream(past.table_id))
    sample = tuple(NewEvent(each.type, each.version, each.body, each.meta) for each in played)
    done = len(sample)
    room = asyncio.Semaphore(AT_ONCE)

    async def table(count: int) -> None:
        nonlocal done
        async with room:
            head = StreamHead(table_stream(entropy.uuid7(core.clock.now_ms())), 0, GENESIS)
            for start in range(0, count, PER_COMMAND):
                some = sample[start : min(count, start + PER_COMMAND)]
                appended = StreamAppend(head.stream, head.seq, head.hash, some)
                verdict = await core.store.append(Append(entropy.random_bytes(16), (appended,)))
                assert isinstance(verdict, Appended), verdict
                (head,) = verdict.heads
                done += len(some)
                progress(done, events, "writing the log")

    left = max(0, events - done)
    async with asyncio.TaskGroup() as group:
        for start in range(0, left, len(sample)):
            group.create_task(table(min(len(sample), left - start)))
