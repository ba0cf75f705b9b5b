"""Parts of the service as processes of their own, started and stopped by this one."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from infra.faults import Fault
from infra.settings import PREFIX, Settings

STOP_S = 20.0


def environment(settings: Settings) -> dict[str, str]:
    """This process's environment, with `settings` in place of its own."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    for field in msgspec.structs.fields(Settings):
        value = getattr(settings, field.name)
        if value != field.default:
            given[PREFIX + field.name.upper()] = _text(value)
    return given


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode() if not isinstance(value, str) else value


@asynccontextmanager
async def process(settings: Settings, module: str, *arguments: str) -> AsyncIterator[None]:
    """`python -m module arguments` with these settings, for as long as the block runs; then it is asked to stop.

    Where it ends by itself the block ends too, with a Fault in a group.
    Its standard input ends with this process, so that it need not outlive one that was killed.
    """
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, env=environment(settings), stdin=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(running, " ".join((module, *arguments))))
            yield
            watching.cancel()
    finally:
        await stop(running)


async def _watch(running: asyncio.subprocess.Process, name: str) -> None:
    code = await running.wait()
    raise Fault("process", f"{name} ended with code {code}; what it said stands above")


@asynccontextmanager
async def part(settings: Settings, names: Sequence[str]) -> AsyncIterator[None]:
    """`khrap serve names` as a process of its own."""
    async with process(settings, "services.cli", "serve", *names, "--with-parent"):
        yield


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def stop(running: asyncio.subprocess.Process) -> None:
    """Ask it to stop, and kill it if it does not."""
    if running.returncode is not None:
        return
    running.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await running.wait()
    except TimeoutError:
        running.kill()
        await running.wait()
