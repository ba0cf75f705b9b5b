"""`khrap bench actions`: durable player actions a second over HTTP, beside a no-op POST of the same server.

One process for API and steward, one for the projector, one for the load generator. Actions and no-ops are measured in
turn, window by window, with as many callers: at a table one player acts at a time, so a table is a caller.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from infra.entropy import SystemEntropy
from infra.faults import Fault
from infra.settings import Settings
from services.api.tokens import Signer
from services.bench import noop
from services.bench.common import Report, machine, median, percentile, temporary_home
from services.bench.drive import Plan, PlanTable, Result, Way, Window
from services.bots import Client
from services.core import Core, open_core
from services.processes import free_port, part, process, stop

CASES = (1, 16, 64)
WAYS: tuple[Way, ...] = ("noop", "actions")
PLAYERS = 3
CURRENCY = "RUB"
STAKE = 100
BUY_IN = 1_000 * STAKE
DEPOSIT = 10**10
"""The purses are topped up from this."""
TURN_MS = 3_600_000
"""Nobody is acted for while the generator stands still."""
WINDOWS = 3
WARM_UP_S = 1.0
START_S = 60.0

Progress = Callable[[int, int | None, str], None]


async def bench_actions(seconds: float, progress: Progress) -> Report:
    """Measure all cases for so many seconds each and way. Raises Fault."""
    rows, ratio = [], {}
    total = len(CASES) * WINDOWS * 2
    with temporary_home() as settings:
        async with open_core(settings) as core, _service(settings) as address:
            for number, tables in enumerate(CASES):
                planned = await plan(core, address, tables)
                done = number * WINDOWS * 2
                windows: dict[Way, list[Result]] = {"actions": [], "noop": []}
                async with generator(planned) as ask:
                    for do in WAYS:
                        await ask(Window(do, WARM_UP_S))
                    for _ in range(WINDOWS):
                        for do in WAYS:
                            progress(done, total, f"{tables} tables, {do}")
                            windows[do].append(await ask(Window(do, seconds / WINDOWS)))
                            done += 1
                row = _row(tables, windows)
                rows.append(row)
                ratio[str(tables)] = row["ratio"]
    return Report("actions", machine(), tuple(rows), ratio)


def _row(tables: int, windows: dict[Way, list[Result]]) -> dict[str, Any]:
    rates = {do: median([r.count / r.seconds for r in results]) for do, results in windows.items()}
    latencies = {do: [each for r in results for each in r.latencies_ms] for do, results in windows.items()}
    actions = sum(r.count for r in windows["actions"])
    return {
        "case": str(tables),
        "tables": tables,
        "players": tables * PLAYERS,
        "actions_per_s": round(rates["actions"], 1),
        "p50_ms": percentile(latencies["actions"], 0.5),
        "p99_ms": percentile(latencies["actions"], 0.99),
        "views_per_action": round(sum(r.reads for r in windows["actions"]) / max(actions, 1), 3),
        "reference": "no-op POST",
        "noop_per_s": round(rates["noop"], 1),
        "noop_p50_ms": percentile(latencies["noop"], 0.5),
        "ratio": round(rates["actions"] / rates["noop"], 3),
    }


@asynccontextmanager
async def _service(settings: Settings) -> AsyncIterator[str]:
    """API with steward, and projector, on the servers that run; gives the API's URL."""
    port = free_port()
    settings = replace(settings, port=port)
    async with process(settings, noop.__name__), part(settings, ["projector"]):
        address = f"http://127.0.0.1:{port}"
        await answering(address)
        yield address


async def answering(address: str) -> None:
    """Returns when the API is ready: a client repeats what finds nobody."""
    try:
        async with asyncio.timeout(START_S):
            await Client(address, None).get("/readyz")
    except TimeoutError:
        raise Fault("bench", f"the API did not start within {START_S:.0f} s") from None


async def plan(core: Core, address: str, tables: int) -> Plan:
    """Open the tables and seat their players."""
    entropy = SystemEntropy()
    signer = Signer(core.keys, core.clock, entropy)
    cashier = Client(address, signer.bearer("cashier", "cashier"), entropy)
    operator = Client(address, signer.bearer("operator", "operator"), entropy)
    planned = []
    for n in range(tables):
        opened = await operator.post("/v1/tables", _settings())
        tokens = []
        for i in range(PLAYERS):
            player = f"bench-{tables}-{n}-{i}"
            await cashier.post("/v1/accounts", {"player": player, "currency": CURRENCY})
            await cashier.post(f"/v1/accounts/{player}/{CURRENCY}/deposits", {"amount": DEPOSIT})
            token = signer.bearer(player, "player")
            client = Client(address, token, entropy)
            await client.post(f"/v1/tables/{opened['table_id']}/seat", {"buy_in": BUY_IN})
            client.close()
            tokens.append(token)
        planned.append(PlanTable(opened["table_id"], tuple(tokens)))
    parts = urlsplit(address)
    assert parts.port is not None
    return Plan(parts.hostname or "", parts.port, STAKE, BUY_IN, tuple(planned), noop.PATH)


def _settings() -> dict[str, Any]:
    return {
        "currency": CURRENCY,
        "stake": STAKE,
        "max_seats": PLAYERS,
        "pause_ms": 0,
        "turn_ms": TURN_MS,
        "options": {"game": "khrap"},
    }


@asynccontextmanager
async def generator(plan: Plan) -> AsyncIterator[Callable[[Window], Any]]:
    """The load generator's process; gives what asks it for a window."""
    generator = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.bench.drive",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=64 * 1024 * 1024,
    )
    assert generator.stdin is not None
    assert generator.stdout is not None
    send, receive = generator.stdin, generator.stdout

    async def ask(window: Window) -> Result:
        send.write(msgspec.json.encode(window) + b"\n")
        line = await receive.readline()
        if not line:
            raise Fault("bench", "the load generator failed; what it says stands above")
        return msgspec.json.decode(line, type=Result)

    send.write(msgspec.json.encode(plan) + b"\n")
    try:
        yield ask
    finally:
        send.close()
        await stop(generator)
