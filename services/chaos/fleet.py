"""The service's processes: several of each part, killed, stopped and started again, and none of them left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import msgspec

from infra.settings import Settings
from services.chaos.part import AWAY
from services.chaos.skew import Skew
from services.processes import environment, stop
from services.runtime import Part

AGAIN_S = 0.3
"""So long after it has ended by itself a process is started again, as a service manager would."""


class Member:
    """One process of ours, over all its lives. Its standard error goes to `log`."""

    def __init__(self, name: str, part: Part, settings: Settings, folder: Path) -> None:
        self.name = name
        self.part = part
        self.log = folder / f"{name}.log"
        self.starts = 0
        self.ended: list[int] = []
        """The codes with which it ended though nobody had killed it, nor the store was away as it started."""
        skew = folder / f"{name}.skew"
        self.skew = Skew(skew)
        self._arguments = (part, str(skew))
        self._environment = environment(settings)
        self._running: asyncio.subprocess.Process | None = None
        self._since_s = 0.0
        self._away_s: float | None = None

    async def keep(self) -> None:
        """Run it, again and again, until cancelled; then it is asked to stop, and killed if it does not."""
        try:
            while True:
                with self.log.open("ab") as log:
                    self._running = await _started(self._arguments, self._environment, log.fileno())
                self.starts += 1
                self._since_s = time.monotonic()
                code = await self._running.wait()
                away_s, self._away_s = self._away_s, None
                if away_s is None and code != AWAY:
                    self.ended.append(code)
                await asyncio.sleep(AGAIN_S if away_s is None else away_s)
        finally:
            if self._running is not None:
                self.signal(signal.SIGCONT)
                await stop(self._running)

    def kill(self, away_s: float, spared_s: float) -> bool:
        """Kill it (-9), to be started again after `away_s`; False where it does not run for `spared_s` already."""
        if not self.is_running or time.monotonic() - self._since_s < spared_s:
            return False
        self._away_s = away_s
        self.signal(signal.SIGKILL)
        return True

    @property
    def is_running(self) -> bool:
        """Whether there is a process of it."""
        return self._running is not None and self._running.returncode is None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, where it runs."""
        if self._running is not None:
            with suppress(ProcessLookupError):
                self._running.send_signal(number)


async def _started(arguments: Sequence[str], env: Mapping[str, str], log: int) -> asyncio.subprocess.Process:
    """A part as a process, in a group of its own.

    Ctrl-C at a terminal is for us alone, who then stop it. Should we be killed, its standard input ends, at which it
    stops; and where it was stopped by a signal, the kernel wakes it with a SIGHUP, its group having become an orphan.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.chaos.part",
        *arguments,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=log,
        stderr=log,
        preexec_fn=os.setpgrp,  # uvloop does not know `process_group`
    )


class Fleet:
    """All of them by name: `api-1`, `projector-2`, …"""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = {each.name: each for each in members}
        self.start_s = 0.0
        """How long it took them to start, all at once: on a busy machine what is killed more often never comes up."""

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    @property
    def starts(self) -> int:
        """How many processes were started."""
        return sum(each.starts for each in self.members.values())

    def heal(self) -> None:
        """Wake all, and put their clocks right."""
        for each in self.members.values():
            each.signal(signal.SIGCONT)
            each.skew.offset_ms = 0


@asynccontextmanager
async def fleet(members: Sequence[Member]) -> AsyncIterator[Fleet]:
    """Their processes, for as long as the block runs."""
    made = Fleet(members)
    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(each.keep(), name=each.name) for each in members]
        stack.push_async_callback(_ended, tasks)
        yield made


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def told_of_errors(log: Path) -> list[str]:
    """The lines of a process's log that report an error, and what it said that is no line of the log."""
    found = []
    for line in log.read_text(errors="replace").splitlines():
        try:
            level = msgspec.json.decode(line, type=dict[str, object]).get("level")
        except msgspec.MsgspecError:
            level = "unstructured"
        if level not in ("debug", "info", "warning"):
            found.append(line)
    return found
