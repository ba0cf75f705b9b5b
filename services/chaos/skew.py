"""A process's clock that somebody else puts forward or back while it runs."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from infra.clock import Clock, SystemClock

_OFFSET = struct.Struct("<q")


class Skew:
    """How far the clock of a process is off, in milliseconds: eight bytes of a file that both processes map."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_OFFSET.pack(0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _OFFSET.size)

    @property
    def offset_ms(self) -> int:
        """How far it is off now."""
        offset: int = _OFFSET.unpack_from(self._map)[0]
        return offset

    @offset_ms.setter
    def offset_ms(self, offset_ms: int) -> None:
        _OFFSET.pack_into(self._map, 0, offset_ms)


class SkewedClock:
    """The system's clock, off by what `skew` says; it jumps when that changes, and holds still rather than go back."""

    def __init__(self, skew: Skew, clock: Clock | None = None) -> None:
        self._skew = skew
        self._clock = clock or SystemClock()
        self._latest_ms = 0

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z, never less than before."""
        self._latest_ms = max(self._latest_ms, self._clock.now_ms() + self._skew.offset_ms)
        return self._latest_ms
