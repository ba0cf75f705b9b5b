"""`khrap bench live`: from an action's commit to who follows the table, beside a bare Redis publish-to-receive.

Actions at an even pace on one API process with the steward; the followers are on that process (case `same`) and on
another one, which learns of the table by the projector and Redis (case `other`). Times are the machine's monotonic
clock, which all processes share.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

from msgspec.structs import replace

from infra.entropy import SystemEntropy
from infra.faults import Fault
from infra.plain_message import publish_to_receive
from infra.settings import Settings
from services.api.tokens import Signer
from services.bench import commits
from services.bench.actions import Progress, answering, generator, plan
from services.bench.common import Report, machine, percentile, temporary_home
from services.bench.drive import Plan, Window
from services.bots import Client
from services.bots.stream import follow
from services.core import open_core
from services.processes import free_port, part, process

TABLES = 32
ACTIONS_PER_S = 500.0
WARM_UP_S = 2.0
ROUNDS = 3
"""Ours and the reference take turns."""
PUBLISHED = 300
MESSAGE_BYTES = 200
ARRIVE_S = 2.0
"""So long the last messages may take."""
CASES = ("same", "other")

Received = dict[tuple[str, int], int]
"""(table id, event number) -> when it was received, ns."""


async def bench_live(seconds: float, progress: Progress) -> Report:
    """Measure for so many seconds. Raises Fault."""
    with temporary_home() as settings:
        async with open_core(settings) as core, _nodes(settings) as (here, other):
            planned = await plan(core, here, TABLES)
            token = Signer(core.keys, core.clock, SystemEntropy()).bearer("ops", "ops")
            received: dict[str, Received] = {case: {} for case in CASES}
            noted: dict[tuple[str, int], int] = {}
            bare: list[float] = []
            acted = taken_s = 0.0
            async with (
                _followed(planned, {"same": here, "other": other}, received),
                generator(planned) as ask,
            ):
                await ask(Window("actions", WARM_UP_S, ACTIONS_PER_S))
                await _commits(here, token)
                for number in range(ROUNDS):
                    progress(number, ROUNDS, "actions, followed")
                    bare += await publish_to_receive(core.addresses.redis, PUBLISHED, MESSAGE_BYTES)
                    result = await ask(Window("actions", seconds / ROUNDS, ACTIONS_PER_S))
                    acted, taken_s = acted + result.count, taken_s + result.seconds
                    await asyncio.sleep(ARRIVE_S)
                    noted |= await _commits(here, token)
    rows = [_row(case, noted, received[case], bare, acted / taken_s) for case in CASES]
    return Report("live", machine(), tuple(rows), {str(row["case"]): float(row["ratio"]) for row in rows})


def _row(
    case: str, noted: dict[tuple[str, int], int], received: Received, bare: Sequence[float], per_s: float
) -> dict[str, str | float]:
    delays = [(received[key] - at) / 1e6 for key, at in noted.items() if key in received]
    if not delays:
        raise Fault("bench", f"no message came to those who follow, case {case}")
    ours, reference = percentile(delays, 0.5), percentile(bare, 0.5)
    return {
        "case": case,
        "messages": len(delays),
        "actions_per_s": round(per_s, 1),
        "p50_ms": round(ours, 3),
        "p99_ms": round(percentile(delays, 0.99), 3),
        "reference": "Redis publish to receive",
        "reference_p50_ms": round(reference, 3),
        "reference_p99_ms": round(percentile(bare, 0.99), 3),
        "ratio": round(reference / ours, 3),
    }


@asynccontextmanager
async def _nodes(settings: Settings) -> AsyncIterator[tuple[str, str]]:
    """Two API processes, the first with the steward, and the projector; gives their URLs."""
    here, other = replace(settings, port=free_port()), replace(settings, port=free_port())
    async with process(here, commits.__name__), part(other, ["api"]), part(settings, ["projector"]):
        urls = f"http://127.0.0.1:{here.port}", f"http://127.0.0.1:{other.port}"
        for url in urls:
            await answering(url)
        yield urls


@asynccontextmanager
async def _followed(plan: Plan, urls: dict[str, str], received: dict[str, Received]) -> AsyncIterator[None]:
    """Every table is followed by its first player on one of the nodes, half of them on each."""
    async with AsyncExitStack() as stack:
        tasks = []
        for number, table in enumerate(plan.tables):
            case = CASES[number % len(CASES)]
            client = Client(urls[case], table.tokens[0])
            stack.callback(client.close)
            tasks.append(asyncio.create_task(_follow(client, table.table_id, received[case])))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(client: Client, table_id: str, received: Received) -> None:
    async with aclosing(follow(client, f"/v1/tables/{table_id}/events")) as messages:
        async for message in messages:
            if message.event == "event" and message.number is not None:
                received[f"table-{table_id}", message.number] = time.monotonic_ns()


async def _commits(url: str, token: str) -> dict[tuple[str, int], int]:
    told = await Client(url, token).get(commits.PATH)
    return {(stream, seq): at for stream, seq, at in told["commits"]}
