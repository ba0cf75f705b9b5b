"""`khrap chaos`, run for real: a bad quarter of a minute is lived through, and nothing of a run is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
import psutil
import pytest

from infra.embedded.note import read_note
from infra.settings import Settings
from projections.catalogue import VERSIONS
from services.chaos.report import Report
from services.chaos.schedule import Act
from services.chaos.simulation import run_chaos
from services.cli.exits import INTERRUPTED

SECONDS = 15.0
SEED = 5806361
"""One schedule for every run of the tests: `khrap chaos` is for the others."""
MEMBERS = 6
Truth = TypeVar("Truth")
WITHIN_S = 300.0


@pytest.mark.timeout(900)
async def test_nothing_is_lost_doubled_or_left_standing_on_a_bad_day(tmp_path: Path) -> None:
    # DESIGN "The event store", promises 1 to 4; "Projections": exactly once; "The API": a command once, nothing missed.
    def progress(done: int, total: int | None = None, note: str = "") -> None:
        pass

    report = await run_chaos(Settings(home=str(tmp_path)), seconds=SECONDS, seed=SEED, progress=progress)
    print(report)
    assert report.broken == ()
    assert report.data is None
    folder = Path(report.folder)
    acts = msgspec.json.decode((folder / "schedule.json").read_bytes(), type=list[Act])
    assert len(acts) == sum(report.acts.values()) + sum(report.missed.values()) > 5
    assert msgspec.json.decode((folder / "report.json").read_bytes(), type=Report) == report
    assert report.asked_again >= report.acknowledged > report.bots
    assert min(report.hands, report.moments, report.books, report.watched, report.resumed) > 0
    assert report.hands >= report.tables
    assert set(report.rows) == set(VERSIONS)


class Started:
    """A run in a process group of its own, and all processes that belong to it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.all: list[psutil.Process] = []

    async def start(self) -> None:
        """Returns when all processes of the service have been started."""
        given = {name: value for name, value in os.environ.items() if not name.startswith("KHRAP_")}
        self._running = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "services.cli", "chaos", "--minutes", "5"),
            env={**given, "KHRAP_HOME": str(self._home)},
            start_new_session=True,
            # Who runs the tests in the background has them, and so all that they start, ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._chaos = psutil.Process(self._running.pid)
        await _until(lambda: len(self.members()) == MEMBERS)
        # They stand in the environment of the processes, which know where the servers' home is.
        self.home = await _until(self._home_of_a_member)
        note = read_note(self.home)
        assert note.pid is not None
        servers = [psutil.Process(pid) for pid in (note.pid, *note.servers)]
        self.all = [self._chaos, *self.members(), *servers]

    def members(self) -> list[psutil.Process]:
        """The processes of the service."""
        return [each for each in self._chaos.children(recursive=True) if _is_member(each)]

    def _home_of_a_member(self) -> Path | None:
        for each in self.members():
            with suppress(psutil.Error):  # it may have been killed by now: that is what the run is for
                return Path(each.environ()["KHRAP_HOME"])
        return None

    async def ended(self, number: signal.Signals) -> int:
        """Signal it and wait for the end of all; the exit code."""
        self._running.send_signal(number)
        async with asyncio.timeout(WITHIN_S):
            code = await self._running.wait()
        await _until(lambda: not any(_runs(each) for each in self.all))
        return code


async def _until(holds: Callable[[], Truth | None]) -> Truth:
    last = time.monotonic() + WITHIN_S
    while not (found := holds()):
        assert time.monotonic() < last, f"not within {WITHIN_S} s"
        await asyncio.sleep(0.1)
    return found


def _is_member(process: psutil.Process) -> bool:
    try:
        return "services.chaos.part" in process.cmdline()
    except psutil.Error:  # killed by now
        return False


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    made = Started(tmp_path)
    yield made
    for each in made.all:
        if _runs(each):
            each.kill()


@pytest.mark.timeout(700)
async def test_ctrl_c_ends_a_run_and_everything_that_it_started(started: Started) -> None:
    await started.start()
    assert await started.ended(signal.SIGINT) == INTERRUPTED
    assert not started.home.exists()


@pytest.mark.timeout(700)
async def test_a_run_that_is_killed_leaves_no_process_not_even_a_stopped_one(started: Started) -> None:
    # A stopped process does not see its standard input end; the kernel wakes it, its group being an orphan then.
    await started.start()
    started.members()[0].suspend()
    assert await started.ended(signal.SIGKILL) == -signal.SIGKILL
