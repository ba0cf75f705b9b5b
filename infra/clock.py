"""The time of day, the one place that reads it."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where a decision's time comes from."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z, never less than before."""


class SystemClock:
    """The system's clock, held still while it is set back."""

    def __init__(self) -> None:
        self._latest_ms = 0

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z, never less than before."""
        self._latest_ms = max(self._latest_ms, time.time_ns() // 1_000_000)
        return self._latest_ms


class ManualClock:
    """A clock that stands where it is put: for simulations and tests."""

    def __init__(self, at_ms: int) -> None:
        self._at_ms = at_ms

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z."""
        return self._at_ms

    def advance(self, by_ms: int) -> None:
        """Go forward."""
        assert by_ms >= 0, "a clock never goes back"
        self._at_ms += by_ms


def rfc3339(at_ms: int) -> str:
    """`2026-01-02T03:04:05.678Z`: as times stand in events' meta and in answers."""
    seconds, ms = divmod(at_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"


def from_rfc3339(text: str) -> int:
    """The milliseconds since 1970 of a time written by `rfc3339`. Raises ValueError for any other form."""
    at = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    at_ms = round(at.timestamp() * 1000)
    if rfc3339(at_ms) != text:
        raise ValueError(f"{text!r} is not a time such as 2026-01-02T03:04:05.678Z")
    return at_ms
