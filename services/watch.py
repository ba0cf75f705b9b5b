"""How the whole service stands, read when somebody asks: what ops look at, and what is wrong. Source: DESIGN §6.

Everything here is true of all processes together, but for `redis`, which is of this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Literal, TypeVar

from msgspec import Struct

from infra.beat import Beat
from infra.clock import Clock
from infra.faults import Fault
from infra.projection_store import Parked, ProjectionReader, Standing, Stopped
from infra.store import EventStore
from projections.ledger import LEDGER, MISMATCH, TrialBalance, trial_balance
from projections.lobby import Census, HaltedTable, census, halted_tables
from services.drift import check_drift, clocks
from services.steward.agenda import AWAY_MS

FRESH_S = 1.0
"""So old what is answered may be: several who ask at once cost one reading."""
BOOKS_FRESH_S = 5.0
LAG_MS = 2_000
"""So far behind a serving projection is told of."""
DRIFT_MS = 500
DRIFT_LOOK_S = 1.0

T = TypeVar("T")

Code = Literal[
    "log_restored",
    "hole",
    "mismatch",
    "parked",
    "books_not_zero",
    "clock_away",
    "clock_drift",
    "redis_down",
    "damaged",
    "not_serving",
    "projector_away",
    "lagging",
    "halted",
    "refused",
    "rebuild_stopped",
]
NOTICES: frozenset[Code] = frozenset({"redis_down", "lagging", "halted", "refused", "rebuild_stopped"})
"""What is to be known but loses nothing, or was somebody's wish; the others are alarms."""


class Alarm(Struct, frozen=True):
    """Something that is not as it should be, and at how many places. `notice`: nothing is lost by it."""

    code: Code
    notice: bool
    count: int


class Situation(Struct, frozen=True, kw_only=True):
    """The whole service at one moment. `books` and `tables` are None where no projection of them serves yet.

    `log_events` counts all events ever. `drift_ms` is by how much our clock is ahead of Postgres's; `beat_age_ms` how
    long ago a steward last ran, None where none ever did.
    """

    at_ms: int
    log_events: int
    standings: tuple[Standing, ...]
    holes: tuple[Stopped, ...]
    tables: Census | None
    halted: tuple[HaltedTable, ...]
    books: TrialBalance | None
    books_at_ms: int
    drift_ms: int
    beat_age_ms: int | None
    redis: bool

    @property
    def parked(self) -> tuple[tuple[Standing, Parked], ...]:
        """Every stream that waits in a generation that is kept up, and there."""
        return tuple((s, p) for s in self.standings if s.state == "following" for p in s.parked)

    @property
    def mismatches(self) -> int:
        """Streams whose record differs from the books' reckoning."""
        return sum(s.serving and s.name == LEDGER.name and p.code == MISMATCH for s, p in self.parked)

    def alarms(self) -> tuple[Alarm, ...]:
        """What is wrong, the worst first."""
        away = self.beat_age_ms is None or self.beat_age_ms > AWAY_MS
        counts: dict[Code, int] = {
            "log_restored": sum(s.position > s.head for s in self.standings),
            "books_not_zero": sum(each != 0 for each in (self.books.sums().values() if self.books else ())),
            "mismatch": self.mismatches,
            "hole": len(self.holes),
            "parked": len(self.parked) - self.mismatches,
            "clock_away": int(away),
            "clock_drift": int(abs(self.drift_ms) > DRIFT_MS),
            "damaged": sum(s.refused is not None and s.state == "following" for s in self.standings),
            "not_serving": len({s.name for s in self.standings} - {s.name for s in self.standings if s.serving}),
            "projector_away": sum(s.serving and not s.kept and s.refused is None for s in self.standings),
            "lagging": sum(s.serving and s.lag_ms(self.at_ms) > LAG_MS for s in self.standings),
            "halted": 0 if self.tables is None else self.tables.halted,
            "refused": sum(s.refused is not None and s.state == "building" for s in self.standings),
            "rebuild_stopped": sum(s.state == "building" and not s.kept for s in self.standings),
            "redis_down": int(not self.redis),
        }
        return tuple(Alarm(code, code in NOTICES, count) for code, count in counts.items() if count)


class Watch:
    """Reads the situation; `close` lets go of its own connection."""

    def __init__(
        self,
        store: EventStore,
        reader: ProjectionReader,
        beat: Beat,
        clock: Clock,
        redis: Callable[[], bool] = lambda: True,
    ) -> None:
        """`redis` says whether this process's link to it is up."""
        self._store = store
        self._reader = reader
        self._beat = beat
        self._clock = clock
        self._redis = redis
        self._one_at_a_time = asyncio.Lock()
        self._last: tuple[float, Situation] | None = None
        self._books: tuple[float, int, TrialBalance] | None = None
        self._drift_ms = 0

    async def keep_time(self) -> None:
        """Measure our clock until cancelled, for `check_clock`. Raises Fault(`store_unavailable`)."""
        while True:
            self._drift_ms, _ = await clocks(self._beat, self._clock)
            await asyncio.sleep(DRIFT_LOOK_S)

    def check_clock(self) -> None:
        """Raises Fault(`unavailable`) where our clock, as last measured, is too far off to record anything by it."""
        check_drift(self._clock, self._drift_ms)

    async def now(self) -> Situation:
        """The situation, at most `FRESH_S` old. Raises Fault(`store_unavailable`)."""
        async with self._one_at_a_time:
            if self._last is None or monotonic() - self._last[0] > FRESH_S:
                self._last = monotonic(), await self._read()
            return self._last[1]

    async def close(self) -> None:
        """Let go of the connection."""
        await self._beat.close()

    async def _read(self) -> Situation:
        books, books_at_ms = await self._read_books()
        drift_ms, beat_age_ms = await clocks(self._beat, self._clock)
        # The heads first: what is appended meanwhile is no lag.
        events = sum((await self._store.part_heads()).values())
        return Situation(
            at_ms=self._clock.now_ms(),
            log_events=events,
            standings=tuple(await self._reader.standings()),
            holes=tuple(await self._reader.stopped()),
            tables=await _unless_missing(census(self._reader)),
            halted=await _unless_missing(halted_tables(self._reader)) or (),
            books=books,
            books_at_ms=books_at_ms,
            drift_ms=drift_ms,
            beat_age_ms=beat_age_ms,
            redis=self._redis(),
        )

    async def _read_books(self) -> tuple[TrialBalance | None, int]:
        """They sum over every account, so they are read less often."""
        if self._books is None or monotonic() - self._books[0] > BOOKS_FRESH_S:
            balance = await _unless_missing(trial_balance(self._reader))
            if balance is None:
                return None, self._clock.now_ms()
            self._books = monotonic(), self._clock.now_ms(), balance
        return self._books[2], self._books[1]


async def _unless_missing(reading: Awaitable[T]) -> T | None:
    try:
        return await reading
    except Fault as fault:
        if fault.code != "projection_missing":
            raise
        return None
