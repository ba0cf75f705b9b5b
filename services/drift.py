"""How far this process's clock is off Postgres's, and from when on it is not to be trusted. Source: rulebook T11."""

from __future__ import annotations

from infra.beat import Beat
from infra.clock import Clock, SystemClock
from infra.faults import Fault

LIMIT_MS = 5_000
"""Further off than this nothing is recorded by our clock: what it records stays in the log and counts for all."""


async def clocks(beat: Beat, clock: Clock) -> tuple[int, int | None]:
    """By how much our clock is ahead of Postgres's, and how long ago a steward last ran, in milliseconds. Raises Fault.

    What the way to Postgres and back takes is no drift.
    """
    before = clock.now_ms()
    now_ms, beat_ms = await beat.times()
    after = clock.now_ms()
    drift_ms = max(0, before - now_ms) or min(0, after - now_ms)
    return drift_ms, None if beat_ms is None else max(0, after - beat_ms)


def check_drift(clock: Clock, drift_ms: int) -> None:
    """Raises Fault(`unavailable`) where the system's clock is too far off; any other clock is put where it is."""
    if isinstance(clock, SystemClock) and abs(drift_ms) > LIMIT_MS:
        way = "ahead of" if drift_ms > 0 else "behind"
        detail = f"this process's clock is {abs(drift_ms) / 1000:.0f} s {way} the store's; nothing is recorded by it"
        raise Fault("unavailable", f"{detail} until that is mended (look at the time service): ask another process")
