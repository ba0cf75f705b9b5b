"""The acts of a schedule, done upon servers, processes and links; each undoes itself when its time is up."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from infra.embedded.killing import crash_backend, end_backends, kill_server
from infra.faults import Fault
from infra.settings import Settings
from services.chaos.fleet import Fleet
from services.chaos.proxy import Link
from services.chaos.schedule import Act
from services.cli.exits import FAILS, HOLDS
from services.processes import environment, stop

REBUILDS = 10
"""So often a rebuild that found the store away is begun again; what was built stands, and the next one goes on."""
AGAIN_S = 1.0


class Acts:
    """Does them. `done` counts by kind, `missed` those that found nothing to act upon; `broken` what was not right."""

    def __init__(
        self, home: Path, owner_url: str, settings: Settings, fleet: Fleet, links: Mapping[str, Link], folder: Path
    ) -> None:
        """`home` is that of the embedded servers; commands run with `settings`, and what they say goes to `folder`."""
        self._home = home
        self._owner_url = owner_url
        self._settings = settings
        self._fleet = fleet
        self._links = links
        self._log = folder / "rebuilds.log"
        self._rebuilding = asyncio.Lock()
        self.done: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.broken: list[str] = []

    async def run(self, schedule: Sequence[Act]) -> None:
        """All of them, each at its time; returns when the last one has undone itself."""
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for act in schedule:
                await asyncio.sleep(max(0.0, began + act.at_ms / 1000 - time.monotonic()))
                group.create_task(self._do(act))

    async def _do(self, act: Act) -> None:
        try:
            was_done = await self._acted(act)
        except Fault:
            was_done = False
        (self.done if was_done else self.missed)[act.kind] += 1

    async def _acted(self, act: Act) -> bool:
        for_s = act.for_ms / 1000
        match act.kind:
            case "end_backends":
                return await end_backends(self._owner_url, act.amount / 100) > 0
            case "crash_backend":
                return await crash_backend(self._owner_url)
            case "kill_postgres" | "kill_redis":
                return kill_server(self._home, act.kind.removeprefix("kill_"))
            case "kill":
                return self._fleet[act.target].kill(for_s, self._fleet.start_s)
            case "pause":
                return await self._pause(act.target, for_s)
            case "skew":
                self._fleet[act.target].skew.offset_ms = act.amount
                await asyncio.sleep(for_s)
                self._fleet[act.target].skew.offset_ms = 0
            case "cut" | "stall" | "slow":
                await self._trouble(self._links[act.target], act)
            case "rebuild":
                return await self._rebuild(act.target, for_s)
            case _:
                assert_never(act.kind)
        return True

    async def _pause(self, name: str, for_s: float) -> bool:
        member = self._fleet[name]
        if not member.is_running:
            return False
        member.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(for_s)
        finally:
            member.signal(signal.SIGCONT)
        return True

    async def _trouble(self, link: Link, act: Act) -> None:
        match act.kind:
            case "cut":
                await link.cut()
                await asyncio.sleep(act.for_ms / 1000)
                link.mend()
            case "stall":
                link.stall()
                await asyncio.sleep(act.for_ms / 1000)
                link.flow()
            case _:
                link.delay_ms = act.amount
                await asyncio.sleep(act.for_ms / 1000)
                link.delay_ms = 0

    async def _rebuild(self, name: str, killed_after_s: float) -> bool:
        """Rebuild a projection, killed once on the way where `killed_after_s` is not 0; then drop the one before."""
        if self._rebuilding.locked():
            return False
        async with self._rebuilding:
            if killed_after_s:
                await self._khrap("projections", "rebuild", name, killed_after_s=killed_after_s)
            for _ in range(REBUILDS):
                if await self._khrap("projections", "rebuild", name) == HOLDS:
                    await self._khrap("projections", "drop", name)
                    return True
                await asyncio.sleep(AGAIN_S)
        return False

    async def _khrap(self, *arguments: str, killed_after_s: float | None = None) -> int | None:
        """The exit code of a command; None where it was killed."""
        with self._log.open("ab") as log:
            running = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.cli",
                *arguments,
                env=environment(self._settings),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            async with asyncio.timeout(killed_after_s):
                code = await running.wait()
        except TimeoutError:
            running.kill()
            await running.wait()
            return None
        finally:
            await stop(running)
        if code == FAILS:
            self.broken.append(f"khrap {' '.join(arguments)} found something wrong; {self._log.name} says what")
        return code
