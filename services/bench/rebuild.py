"""`khrap bench rebuild`: the ledger built anew from a long log, beside a bare reader of it; and the status of all.

Source: DESIGN "Projections".
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from infra.faults import Fault
from infra.plain_reader import read_and_decode
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from services.bench.common import Report, machine, median, temporary_home
from services.bench.longlog import make_log
from services.core import Core, open_core
from services.processes import environment

PROCESSES = (1, 2)
ROUNDS = 3
"""Ours and the reference take turns, so that both meet the same machine: the ratio is the median of the turns'."""

ASKED = 50
"""So many times for the status."""

Progress = Callable[[int, int | None, str], None]


async def bench_rebuild(
    events: int, progress: Progress, processes: Sequence[int] = PROCESSES, rounds: int = ROUNDS
) -> Report:
    """A ledger is built from about `events` events by each number of processes, from the command to the switch.

    One that serves is there already, so that the check against it is in it. Raises Fault.
    """
    rows = []
    with temporary_home() as settings:
        async with open_core(settings) as core:
            there = await make_log(core, events, lambda done: progress(done, events, "playing the log"))
            progress(0, None, "a first build, to be compared with")
            await _rebuild(settings, 1)
            for count in processes:
                progress(0, None, f"rebuilding with {count}")
                rows.append(await _case(core, settings, there, count, rounds))
            progress(0, None, "building all, to ask for their status")
            await _run(settings, "rebuild", "--all", "--processes", str(max(processes)), "--json")
            rows.append(await _status(core, there))
    return Report("rebuild", machine(), tuple(rows), {row["case"]: row["ratio"] for row in rows})


async def _case(core: Core, settings: Settings, events: int, processes: int, rounds: int) -> dict[str, Any]:
    ours, reference, memory = [], [], 0
    for _ in range(rounds):
        reference.append(await _read(core, events))
        rate, peak_mb = await _rebuild(settings, processes)
        ours.append(rate)
        memory = max(memory, peak_mb)
    return {
        "case": str(processes),
        "processes": processes,
        "events": events,
        "events_per_s": round(median(ours)),
        "peak_mb": memory,
        "reference_per_s": round(median(reference)),
        "ratio": round(median([one / other for one, other in zip(ours, reference, strict=True)]), 3),
        "reference": "psycopg, msgspec",
    }


async def _status(core: Core, events: int) -> dict[str, Any]:
    """How long the status of all projections takes, beside a question to Postgres that reads nothing."""
    ours, reference, standings = [], [], []
    async with ProjectionReader(core.addresses.application) as reader:
        for _ in range(ASKED):
            began = time.perf_counter()
            await core.store.log_id()
            asked = time.perf_counter()
            standings = await reader.standings()
            reference.append((asked - began) * 1e3)
            ours.append((time.perf_counter() - asked) * 1e3)
    assert all(each.lag_events == 0 for each in standings), standings
    return {
        "case": "status",
        "projections": len(standings),
        "events": events,
        "p50_ms": round(median(ours), 2),
        "reference_p50_ms": round(median(reference), 2),
        "ratio": round(median(reference) / median(ours), 3),
        "reference": "one row from Postgres",
    }


async def _read(core: Core, events: int) -> float:
    """Events a second of the reference."""
    began = time.perf_counter()
    read = await asyncio.to_thread(read_and_decode, core.addresses.application, core.store.parts)
    assert read == events, (read, events)
    return events / (time.perf_counter() - began)


async def _rebuild(settings: Settings, processes: int) -> tuple[float, int]:
    """Events a second of a rebuild by the command, and the most memory that one of its processes took; then drop it."""
    done = await _run(settings, "rebuild", "ledger", "--processes", str(processes), "--json")
    (rebuilt,) = done["rebuilt"]
    assert rebuilt["switched"], rebuilt
    if rebuilt["comparison"] is not None:
        await _run(settings, "drop", "ledger", "--json")
    return rebuilt["events"] / rebuilt["seconds"], rebuilt["peak_mb"]


async def _run(settings: Settings, *arguments: str) -> dict[str, Any]:
    """`khrap projections …`, as a process of its own: what it answers."""
    command = [sys.executable, "-m", "services.cli", "projections", *arguments]
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(*command, env=environment(settings), stdout=pipe, stderr=pipe)
    said, complaints = await running.communicate()
    if running.returncode != 0:
        lines = complaints.decode().strip().splitlines() or [f"code {running.returncode}"]
        raise Fault("bench", f"{' '.join(arguments)}: {lines[-1]}")
    answer: dict[str, Any] = msgspec.json.decode(said)
    return answer
