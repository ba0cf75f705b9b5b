"""How many event streams one caller and one node may hold open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

PER_CALLER = 32
PER_NODE = 5_000


class TooManyStreams(Exception):
    """The caller, or this node, holds as many event streams as it may. The text says which."""


class Streams:
    """Counts the open streams by who holds them: a subject, or an address where there is no token."""

    def __init__(self, per_caller: int = PER_CALLER, per_node: int = PER_NODE) -> None:
        self._per_caller = per_caller
        self._per_node = per_node
        self._open: Counter[str] = Counter()
        self._total = 0

    @property
    def total(self) -> int:
        """How many are open."""
        return self._total

    def require_room(self, holder: str) -> None:
        """Raises TooManyStreams."""
        if self._open[holder] >= self._per_caller:
            raise TooManyStreams(f"{self._per_caller} event streams a caller may be open; close one")
        if self._total >= self._per_node:
            raise TooManyStreams(f"this node holds {self._per_node} event streams, all it may; try again later")

    @contextmanager
    def held(self, holder: str) -> Iterator[None]:
        """One stream, counted for as long as the block runs. Raises TooManyStreams."""
        self.require_room(holder)
        self._open[holder] += 1
        self._total += 1
        try:
            yield
        finally:
            self._total -= 1
            self._open[holder] -= 1
            if not self._open[holder]:
                del self._open[holder]
