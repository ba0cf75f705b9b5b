"""Bad days: back-ends, API, projector and steward are killed while bots play, and nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psycopg
import pytest

from infra.entropy import SystemEntropy
from infra.settings import Settings
from services.api.tokens import Signer
from services.bots import Bot, Client
from services.core import Core, open_core
from services.demo.check import check

PARTS = ("api", "projector", "steward")
SECONDS = 15
KHRAP = Path(sys.executable).with_name("khrap")


class Acknowledged(msgspec.Struct, frozen=True):
    """A write that was answered with success."""

    path: str
    content: bytes
    headers: dict[str, str]
    answer: Any


class Recording(Client):
    """A client that keeps what was acknowledged."""

    def __init__(self, address: str, token: str, kept: list[Acknowledged]) -> None:
        super().__init__(address, token)
        self._sent_with = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._kept = kept

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        key, content = secrets.token_hex(16), msgspec.json.encode(body or {})
        answer = await self._until_answered(lambda wire: wire.post(path, content, key))
        self._kept.append(Acknowledged(path, content, {**self._sent_with, "Idempotency-Key": key}, answer))
        return answer


class Service:
    """The parts of the service, each a process, killed and started again."""

    def __init__(self, home: Path, port: int) -> None:
        self._environment = {**os.environ, "KHRAP_HOME": str(home), "KHRAP_LOG_LEVEL": "error"}
        self._port = port
        self._processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, part: str) -> None:
        self._processes[part] = await asyncio.create_subprocess_exec(
            KHRAP, "serve", part, "--port", str(self._port), env=self._environment, cwd=self._environment["KHRAP_HOME"]
        )

    async def kill(self, part: str) -> None:
        process = self._processes[part]
        assert process.returncode is None, f"{part} ended by itself with {process.returncode}"
        process.send_signal(signal.SIGKILL)
        await process.wait()

    async def stop(self) -> None:
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="khrap-survival-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def service(home: Path, port: int) -> AsyncIterator[Service]:
    made = Service(home, port)
    for part in PARTS:
        await made.start(part)
    try:
        yield made
    finally:
        await made.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def trouble(core: Core, made: Service, chance: random.Random, seconds: float) -> dict[str, int]:
    """Kill something again and again; how often what was killed."""
    done = dict.fromkeys((*PARTS, "backends"), 0)
    assert core.addresses.owner is not None
    until = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < until:
        await asyncio.sleep(chance.uniform(0.2, 0.8))
        if chance.random() < 0.6:
            done["backends"] += 1
            async with await psycopg.AsyncConnection.connect(core.addresses.owner, autocommit=True) as owner:
                await owner.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < 0.5"
                )
        else:
            part = chance.choice(PARTS)
            done[part] += 1
            await made.kill(part)
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            await made.start(part)
    return done


class Watched:
    """A bot's view of the log: the numbers of the events that it was sent."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __call__(self, event: dict[str, Any]) -> None:
        self.numbers.append(event["seq"])


@pytest.mark.timeout(300 + 20 * SECONDS)
async def test_nothing_acknowledged_is_lost_and_nothing_is_done_twice(home: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    kept: list[Acknowledged] = []
    async with (
        open_core(Settings(home=str(home))) as core,
        service(home, port) as made,
        httpx.AsyncClient(base_url=address, timeout=30) as http,
    ):
        assert core.keys.token_signing is not None
        signer = Signer(core.keys, core.clock, SystemEntropy())
        operator = Recording(address, signer.bearer("olga", "operator"), kept)
        cashier = Recording(address, signer.bearer("kassa", "cashier"), kept)
        bots: list[Bot] = []
        watched: list[Watched] = []
        tables: list[str] = []
        for table in range(2):
            opened = await operator.post(
                "/v1/tables",
                {"currency": "RUB", "stake": 2_001, "max_seats": 3, "pause_ms": 0, "options": {"game": "khrap"}},
            )
            tables.append(opened["table_id"])
            for seat in range(3):
                player = f"p{table}{seat}"
                await cashier.post("/v1/accounts", {"player": player, "currency": "RUB"})

                async def refill(amount: int, player: str = player) -> None:
                    await cashier.post(f"/v1/accounts/{player}/RUB/deposits", {"amount": 3 * amount})

                await refill(40_020)
                client = Recording(address, signer.bearer(player, "player"), kept)
                bot = Bot(client, tables[-1], player, random.Random(chance.random()), 40_020, refill, SystemEntropy())
                watched.append(Watched())
                bot.on_event = watched[-1]
                await bot.sit()
                bots.append(bot)
        playing = [asyncio.create_task(bot.play()) for bot in bots]
        done = await trouble(core, made, chance, SECONDS)
        for table_id in tables:
            await operator.post(f"/v1/tables/{table_id}/close", {"reason": "the day was bad enough"})
        async with asyncio.timeout(60):
            await asyncio.gather(*playing)

        # Sent again, each acknowledged write gets the answer that it got then.
        for sent in kept:
            again = await http.post(sent.path, content=sent.content, headers=sent.headers)
            assert (again.status_code // 100, msgspec.json.decode(again.content)) == (2, sent.answer), sent.path
        # Each bot saw every event of its table once and in order, over all drops.
        for seen in watched:
            assert seen.numbers == list(range(seen.numbers[0], seen.numbers[-1] + 1))
        actions = [a for a in kept if a.path.endswith("/actions")]
        ranges = sorted((a.path, e["seq"]) for a in actions for e in a.answer["events"])
        assert len(ranges) == len(set(ranges)), "two commands were answered with the same event"
        assert len(actions) == sum(bot.actions for bot in bots) > 0
        for table_id in tables:
            types = [e.type for e in await core.store.read_stream(f"table-{table_id}")]
            assert types[-1] == "table_closed"
            ended = types.count("hand_settled") + types.count("hand_voided")
            assert types.count("hand_started") == ended > 0
        checked = await check(core, "RUB")
    assert (checked.differences, checked.chain, checked.trial_balance) == ((), "intact", 0)
    assert checked.deposited == checked.in_accounts + checked.commission
    print(f"killed {done}; {len(kept)} acknowledged writes, {checked.events} events")
