"""Tails the log, keeps each table's agenda, and sends what is due through the one way of all commands.

Several stewards share the tables by leases, and take over from one that is gone. Where two think that one is theirs,
nothing is done twice: ids come from the cause (table, version, kind), so what is sent again is a duplicate or refused.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from contextlib import suppress

import structlog

from domain.commands import Fresh, TableCommand
from domain.table import Table
from infra.beat import Beat
from infra.clock import Clock
from infra.faults import Fault
from infra.leases import LEASE_S, Leases
from infra.metrics import STEWARD_LATE_SECONDS
from infra.store import EventStore
from infra.tracing import span
from services.drift import check_drift, clocks
from services.play.service import Play
from services.play.tables import UNREADABLE
from services.play.types import Caller, Refusal, Request, Step
from services.steward.agenda import AWAY_MS, Item, agenda, renewal

BEAT_MS = 500
LOOK_MS = (50, 200)
"""How soon the log is looked at again; twice as late each time that nothing of another process's was found."""
AGAIN_S = 0.2
SLOTS = 16
"""Into so many leases the parts of the log are dealt, and with them the tables."""
AT_ONCE = 64
TABLES = "table-"
STEWARD = Caller("steward", "steward")
CLOCK = Caller("steward", "clock")

log = structlog.get_logger(__name__)


class Steward:
    """One process's steward. `run` until cancelled."""

    def __init__(self, store: EventStore, play: Play, beat: Beat, clock: Clock, leases: Leases | None = None) -> None:
        """Without `leases` it looks after all tables."""
        self._leases = leases
        self._mine: frozenset[int] = frozenset(range(SLOTS))
        self._store = store
        self._play = play
        self._beat = beat
        self._clock = clock
        self._due: list[tuple[int, int, str, int, Item]] = []
        self._count = 0
        self._versions: dict[str, int] = {}
        self._early: dict[str, dict[tuple[str, int], int]] = {}
        """Of tables whose times are ahead of ours: what waits there, and until when by our clock."""
        self._wake = asyncio.Event()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()
        play.on_steps(self._stepped)

    async def run(self) -> None:
        """Look after all tables until cancelled. A store that is away is waited for, for as long as it takes."""
        while True:
            try:
                await self._look_after()
            except* Fault as faults:
                log.warning("steward_waits", faults=[str(fault) for fault in faults.exceptions])
            await asyncio.sleep(AGAIN_S)

    async def _look_after(self) -> None:
        await self._check_clock()
        vector = await self._store.part_heads()
        last_beat = await self._beat.last_ms()
        away = last_beat is not None and self._clock.now_ms() - last_beat > AWAY_MS
        self._mine = await self._share()
        await self._plan_all(self._mine, renew=away)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tail(dict(vector)))
            group.create_task(self._act())
            group.create_task(self._keep_beating())
            if self._leases is not None:
                group.create_task(self._keep_sharing())

    async def _check_clock(self) -> None:
        """Raises Fault where our clock is too far off: it would act for everybody too early, or too late."""
        drift_ms, _ = await clocks(self._beat, self._clock)
        check_drift(self._clock, drift_ms)

    async def _share(self) -> frozenset[int]:
        """Which tables are looked after here, as slots; the others are another steward's."""
        if self._leases is None:
            return frozenset(range(SLOTS))
        held = await self._leases.share([f"steward:{slot}" for slot in range(SLOTS)])
        return frozenset([slot for slot in range(SLOTS) if f"steward:{slot}" in held])

    async def _keep_sharing(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            mine = await self._share()
            gained, lost = mine - self._mine, self._mine - mine
            self._mine = mine
            for table_id in [each for each in self._versions if self._slot(each) in lost]:
                self._forget(table_id)
            if gained or lost:
                log.info("steward_shares", slots=len(mine))
            if gained:
                await self._plan_all(gained)

    def _slot(self, table_id: str) -> int:
        return self._store.part_of(TABLES + table_id) % SLOTS

    async def _plan_all(self, slots: frozenset[int], *, renew: bool = False) -> None:
        for stream in await self._store.streams_not_ended(TABLES, "table_closed"):
            table_id = stream.removeprefix(TABLES)
            if self._slot(table_id) in slots:
                await self._plan(table_id, renew=renew)

    async def _tail(self, vector: dict[int, int]) -> None:
        """Learn of what other processes append: which streams have grown, and then their tables."""
        pause_ms, latest_ms = LOOK_MS
        while True:
            await asyncio.sleep(pause_ms / 1000)
            pause_ms = min(2 * pause_ms, latest_ms)
            heads = await self._store.part_heads()
            for stream, seq in (await self._store.changed_streams(vector, heads)).items():
                table_id = stream.removeprefix(TABLES)
                mine = stream.startswith(TABLES) and self._slot(table_id) in self._mine
                if mine and self._versions.get(table_id, 0) < seq:
                    await self._plan(table_id)
                    pause_ms = LOOK_MS[0]
            vector = heads

    def _stepped(self, table_id: str, steps: Sequence[Step]) -> None:
        if self._slot(table_id) in self._mine:
            self._enter(table_id, steps[-1].seq, steps[-1])

    def _enter(self, table_id: str, version: int, step: Step) -> None:
        if self._versions.get(table_id, 0) >= version:
            return
        self._versions[table_id] = version
        if step.after.closed:
            self._forget(table_id)
            return
        self._enter_all(table_id, version, step.after)

    def _enter_all(self, table_id: str, version: int, table: Table) -> None:
        """All that is to be done there. What waits already waits no longer because something else was recorded."""
        now, before = self._clock.now_ms(), self._early.pop(table_id, {})
        early: dict[tuple[str, int], int] = {}
        for item in agenda(table):
            named = item.kind, item.due_ms
            due_ms = before.get(named, item.due_here_ms(now))
            if due_ms < item.due_ms:
                early[named] = due_ms
            self._push(table_id, version, item, due_ms)
        if early:
            self._early[table_id] = early
            if not before:
                log.warning("table_ahead", table=table_id, ms=table.at_ms - now)

    def _forget(self, table_id: str) -> None:
        self._versions.pop(table_id, None)
        self._early.pop(table_id, None)

    def _push(self, table_id: str, version: int, item: Item, due_ms: int) -> None:
        self._count += 1
        heapq.heappush(self._due, (due_ms, self._count, table_id, version, item))
        if self._due[0][1] == self._count:
            self._wake.set()

    async def _plan(self, table_id: str, *, renew: bool = False) -> None:
        """Enter what is to be done at a table, as the log has it now. One that cannot be read stops no other."""
        try:
            found = await self._play.table(table_id)
        except Fault as fault:
            if fault.code not in UNREADABLE:
                raise
            log.error("table_unreadable", table=table_id, code=fault.code, detail=fault.detail)
            return
        except Exception as error:  # noqa: BLE001 (see below)
            # Its kind alone: what an assertion says may hold cards of a running hand.
            log.error("table_unreadable", table=table_id, code=type(error).__name__)
            return
        if found is None:
            return
        version, table = found
        if table.closed:
            self._forget(table_id)
            return
        item = renewal(table) if renew else None
        if item is not None:
            self._early.pop(table_id, None)
            self._push(table_id, version, item, item.due_here_ms(self._clock.now_ms()))
            self._versions[table_id] = version
            return
        if self._versions.get(table_id, 0) < version or renew:
            self._versions[table_id] = version
            self._enter_all(table_id, version, table)

    async def _act(self) -> None:
        """Send what is due; an item of an older version is void, since its table has a newer agenda."""
        while True:
            now = self._clock.now_ms()
            while self._due and self._due[0][0] <= now:
                due_ms, _, table_id, version, item = heapq.heappop(self._due)
                if self._versions.get(table_id) == version:
                    await self._room.acquire()
                    STEWARD_LATE_SECONDS.observe((self._clock.now_ms() - due_ms) / 1000)
                    task = asyncio.create_task(self._send(table_id, version, item))
                    self._running.add(task)
                    task.add_done_callback(self._running.discard)
            self._wake.clear()
            pause = (self._due[0][0] - now) / 1000 if self._due else 1.0
            # Not wait_for: before Python 3.12 it may swallow a cancellation that comes as the event is set.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(pause, 0.001), 1.0)):
                    await self._wake.wait()

    async def _send(self, table_id: str, version: int, item: Item) -> None:
        caller = CLOCK if item.kind.startswith("clock-") else STEWARD
        key = f"{item.kind}@{version}"
        request = Request(caller, key, self._play.digest(table_id, key))

        def make(at_ms: int, fresh: Fresh) -> TableCommand:
            # Where the table's times are ahead of ours, they go on with what was waited for.
            return item.make(max(at_ms, item.due_ms), fresh)

        try:
            with span("steward", table=table_id, kind=item.kind.partition("-")[0]):
                outcome = await self._play.command(table_id, request, make)
            if isinstance(outcome, Refusal):
                log.info("steward_refused", table=table_id, kind=item.kind, code=outcome.refused.code)
                await self._plan(table_id)
        except Fault as fault:
            if fault.code in UNREADABLE:
                log.error("table_unreadable", table=table_id, code=fault.code, detail=fault.detail)
                return
            # The table's agenda is unchanged, so it is tried again as it stands.
            log.warning("steward_again", table=table_id, kind=item.kind, code=fault.code)
            await asyncio.sleep(AGAIN_S)
            if self._versions.get(table_id) == version:
                self._push(table_id, version, item, min(item.due_ms, self._clock.now_ms()))
        except Exception as error:  # noqa: BLE001 (see below)
            # A mistake of ours at one table; the others are looked after, and this one when it has changed.
            log.error("steward_failed", table=table_id, kind=item.kind, code=type(error).__name__)
        finally:
            self._room.release()

    async def _keep_beating(self) -> None:
        """T11: note that the clock runs; where it did not for too long, give the open decisions their time anew."""
        last = self._clock.now_ms()
        await self._beat.note(last)
        while True:
            await asyncio.sleep(BEAT_MS / 1000)
            await self._check_clock()
            now = self._clock.now_ms()
            if now - last > AWAY_MS:
                log.warning("clock_was_away", ms=now - last)
                for table_id in list(self._versions):
                    await self._plan(table_id, renew=True)
            await self._beat.note(now)
            last = now
