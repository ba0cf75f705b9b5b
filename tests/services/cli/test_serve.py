"""`khrap serve` as a process: others join its servers, and it stops when it is told to, whoever listens."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from infra.settings import Settings
from services.bench.common import temporary_home
from services.bots import Client
from services.bots.stream import follow
from services.processes import environment

BODY = {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}}


@asynccontextmanager
async def khrap(settings: Settings, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.cli",
        *arguments,
        env=environment(settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def said(settings: Settings, *arguments: str) -> tuple[int | None, str, str]:
    async with khrap(settings, *arguments) as process:
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()


def with_free_port(settings: Settings) -> Settings:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Settings(home=settings.home, port=probe.getsockname()[1], log_level=settings.log_level)


async def test_serve_is_joined_and_stops_gracefully_with_a_listener_at_hand() -> None:
    with temporary_home() as given:
        settings = with_free_port(given)
        address = f"http://127.0.0.1:{settings.port}"
        async with khrap(settings, "serve") as process:
            assert (await Client(address, None).get("/readyz"))["status"] == "ok"
            code, token, _ = await said(settings, "token", "--subject", "olga", "--role", "operator")
            assert code == 0
            table = (await Client(address, token.strip()).post("/v1/tables", BODY))["table_id"]
            code, out, _ = await said(settings, "db", "status", "--json")
            assert code == 0
            assert json.loads(out)["events"] == 2  # the table's, in the store that the service writes
            listening = follow(Client(address, None), f"/v1/tables/{table}/events")
            assert (await anext(listening)).event == "snapshot"
            process.terminate()
            async with asyncio.timeout(20):
                assert (await anext(listening)).data == {"reason": "closing"}
                assert await process.wait() == 0
        code, out, _ = await said(settings, "audit", "verify", "--json")
        assert (code, json.loads(out)["events"]) == (0, 2)


async def test_a_part_stops_with_its_parent_and_without_its_servers() -> None:
    with temporary_home() as settings:
        async with khrap(settings, "serve", "projector", "--with-parent") as process:
            assert process.stdin is not None
            await said(settings, "db", "status")  # it takes the time that the part needs to start
            process.stdin.close()
            async with asyncio.timeout(30):
                assert await process.wait() == 0


@pytest.mark.parametrize("part", ["api", "steward"])
async def test_a_part_that_has_lost_its_servers_still_stops(part: str) -> None:
    with temporary_home() as given:
        settings = with_free_port(given)
        async with khrap(settings, "serve", part) as process:
            await said(settings, "db", "status")
            if part == "api":
                await Client(f"http://127.0.0.1:{settings.port}", None).get("/readyz")
            _kill_servers(settings)
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(40):
                await process.wait()


def _kill_servers(settings: Settings) -> None:
    note = json.loads((settings.home_folder / "lock").read_text())
    os.kill(note["pid"], signal.SIGKILL)
    for pid in note["servers"]:
        os.kill(pid, signal.SIGKILL)


async def test_a_port_that_is_taken_is_told_in_a_word() -> None:
    with temporary_home() as given, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(home=given.home, port=taken.getsockname()[1])
        code, _, err = await said(settings, "serve", "api")
        assert code == 2
        assert err.splitlines()[-1].startswith(f"error: cannot listen on 127.0.0.1 port {settings.port}")
