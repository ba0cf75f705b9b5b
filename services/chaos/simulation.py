"""`khrap chaos`: everything started, play and trouble side by side, and all of it checked."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

import msgspec

from infra.entropy import SystemEntropy
from infra.faults import Fault
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from projections.catalogue import VERSIONS
from services.api.tokens import Signer
from services.bots import Client
from services.chaos import ending
from services.chaos.acknowledged import Asker, Kept
from services.chaos.acts import Acts
from services.chaos.checks import Checks
from services.chaos.guests import House
from services.chaos.log import LogWatch
from services.chaos.report import Report
from services.chaos.schedule import Act, schedule
from services.chaos.watching import Watcher
from services.chaos.world import World, own_home, world

TABLES = 2
"""Of each game."""
START_S = 180.0
STALLED_S = 60.0
"""No table stands still, and no request stays unanswered, for so long and four times what a start takes here."""
ASK_S = 0.05
AT_ONCE = 8


class Progress(Protocol):
    """How far a long work is."""

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        """`done` of `total`."""


async def run_chaos(settings: Settings, *, seconds: float, seed: int, progress: Progress) -> Report:
    """Break things for so long, then check all. Raises Fault where it could not be tried at all."""
    folder = settings.home_folder / "chaos" / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    with own_home() as home, Kept(home / "acknowledged") as kept:
        run = _Run(folder, kept, seed, seconds, progress)
        async with world(home, folder) as made:
            await run.play(made)
        run.broken += ending.processes(made.fleet.members.values())
        report = run.report(made, time.monotonic() - began, str(home))
        if not report.holds:
            (home / "keep").touch()
        (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
        return report


class _Run:
    """One run, and what it has found."""

    def __init__(self, folder: Path, kept: Kept, seed: int, seconds: float, progress: Progress) -> None:
        self._folder = folder
        self._kept = kept
        self._seed = seed
        self._seconds = seconds
        self._progress = progress
        self._chance = random.Random(f"khrap-chaos/1 play {seed}")  # noqa: S311 (what a seed must repeat)
        self._watchers: list[Watcher] = []
        self._rows: dict[str, int] = {}
        self.broken: list[str] = []

    async def play(self, made: World) -> None:
        """All of it, but the processes' own last words."""
        core = made.core
        self._progress(0, round(self._seconds), "starting")
        began = time.monotonic()
        await _answering(made.nodes)
        made.fleet.start_s = time.monotonic() - began
        self._stalled_s = STALLED_S + 4 * made.fleet.start_s
        signer, entropy = Signer(core.keys, core.clock, SystemEntropy()), SystemEntropy()
        self._house = House(made.nodes, signer, entropy, self._kept, self._stalled_s, self._chance)
        self._progress(0, round(self._seconds), "opening tables")
        await self._house.open(TABLES)
        for table in self._house.tables:
            for token in (None, signer.bearer(table.bots[0].bot.player, "player")):
                chance = random.Random(self._chance.random())  # noqa: S311 (as above)
                self._watchers.append(Watcher(made.nodes, token, table.table_id, chance, delayed=table.delayed))
        self._asker = Asker(made.nodes, self._kept, self._stalled_s, self._chance)
        self._log = LogWatch(core.store, core.codec)
        async with ProjectionReader(core.addresses.application, versions=VERSIONS) as reader:
            self._checks = Checks(self._log, reader, self._stalled_s)
            playing = [self._task("bots", self._house.play())]
            playing += [self._task(watcher.stream, watcher.watch()) for watcher in self._watchers]
            checking = self._task("checks", self._checks.run())
            asking = self._task("asker", self._asker.some(ASK_S))
            try:
                await self._trouble(made, checking)
                if not self._found:
                    await self._end(made, playing, asking)
            finally:
                for task in (*playing, checking, asking):
                    task.cancel()
                await asyncio.gather(*playing, checking, asking, return_exceptions=True)
        if not self._found:
            await self._check_all(made)

    def _task(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """`work` beside the rest; what it fails with is found, and stops nobody."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 (whatever it is, it is what we are looking for)
                self.broken += [f"{name}: {each}" for each in _told(error)]

        return asyncio.create_task(guarded(), name=name)

    @property
    def _found(self) -> list[str]:
        """Everything that is broken so far."""
        return [*self.broken, *self._checks.found, *self._asker.broken, *self._acts.broken]

    async def _trouble(self, made: World, checking: asyncio.Task[None]) -> None:
        """Run the schedule, or as much of it as there is until something breaks."""
        acts = schedule(self._seed, round(self._seconds * 1000), made.targets)
        _write(self._folder / "schedule.json", acts)
        assert made.core.addresses.owner is not None
        self._acts = Acts(made.home, made.core.addresses.owner, made.commands, made.fleet, made.links, self._folder)
        acting = self._task("acts", self._acts.run(acts))
        began = time.monotonic()
        try:
            while not acting.done() and not checking.done() and not self._found:
                await asyncio.wait((acting, checking), timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
                done = min(time.monotonic() - began, self._seconds)
                self._progress(round(done), round(self._seconds), f"{self._log.events:,} events")
        finally:
            acting.cancel()
            await asyncio.gather(acting, return_exceptions=True)
            made.heal()

    async def _end(self, made: World, playing: list[asyncio.Task[None]], asking: asyncio.Task[None]) -> None:
        """All is well again: hands go on, tables close, and everybody hears of it."""
        total = round(self._seconds)
        self._progress(total, total, "waiting for every table")
        self.broken += await ending.moving(self._log, self._stalled_s)
        self._progress(total, total, "closing")
        await self._house.close()
        _, late = await asyncio.wait(playing, timeout=self._stalled_s)
        self.broken += [f"{task.get_name()} did not end within {self._stalled_s:.0f} s" for task in late]
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        self._progress(total, total, "asking again")
        await self._asker.all(AT_ONCE)

    async def _check_all(self, made: World) -> None:
        total = round(self._seconds)
        self._progress(total, total, "checking")
        try:
            await self._log.look()
            self.broken += ending.acknowledged_once(self._kept, self._log)
            self.broken += ending.watched_all(self._watchers, self._log)
            self.broken += await ending.books(made.core)
            self._rows, differences = await ending.fresh_folds(made.core)
            self.broken += differences
        except Fault as fault:
            self.broken.append(f"the end could not be checked: {fault}")

    def report(self, made: World, seconds: float, home: str) -> Report:
        """What it came to."""
        broken = tuple(dict.fromkeys(self._found))
        return Report(
            seed=self._seed,
            seconds=round(seconds, 1),
            holds=not broken,
            broken=broken,
            processes=len(made.fleet.members),
            starts=made.fleet.starts,
            acts=dict(self._acts.done),
            missed=dict(self._acts.missed),
            tables=len(self._house.tables),
            bots=sum(len(table.bots) for table in self._house.tables),
            absences=sum(guest.absences for table in self._house.tables for guest in table.bots),
            hands=sum(self._log.hands().values()),
            events=self._log.events,
            moments=self._log.moments,
            books=self._checks.books,
            acknowledged=len(self._kept),
            asked_again=self._asker.asked,
            watchers=len(self._watchers),
            watched=sum(len(watcher.marks) for watcher in self._watchers),
            resumed=sum(watcher.resumed for watcher in self._watchers),
            rows=self._rows,
            folder=str(self._folder),
            data=home if broken else None,
        )


async def _answering(nodes: tuple[str, ...]) -> None:
    """Returns when every API is ready."""
    try:
        async with asyncio.timeout(START_S):
            for node in nodes:
                await Client(node, None, patience_s=START_S).get("/readyz")
    except TimeoutError:
        raise Fault("chaos", f"the API did not start within {START_S:.0f} s") from None


def _told(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        return [line for each in error.exceptions for line in _told(each)]
    return [f"{type(error).__name__}: {error}"]


def _write(path: Path, acts: tuple[Act, ...]) -> None:
    """One act a line."""
    lines = ",\n".join(msgspec.json.encode(act).decode() for act in acts)
    path.write_text(f"[\n{lines}\n]\n")
