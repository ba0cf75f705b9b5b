"""Chance and identity, the one place that makes them."""

import hashlib
import os
from typing import Protocol
from uuid import UUID

RANDOM_BITS = 74  # of a UUIDv7, after its 48 bits of time and the 6 of version and variant
STEP_BITS = 32


class Entropy(Protocol):
    """Where seeds, nonces and ids come from."""

    def random_bytes(self, count: int) -> bytes:
        """`count` bytes that nobody can foresee."""

    def uuid7(self, at_ms: int) -> str:
        """A new UUIDv7 (RFC 9562), canonical text; later ones of the same source sort after earlier ones."""


class UuidSequence:
    """RFC 9562 section 6.2, method 2: within a millisecond the random part grows by a random step."""

    def __init__(self) -> None:
        self._latest_ms = -1
        self._random = 0

    def next(self, at_ms: int, random_bytes: bytes) -> str:
        """The next id, from 16 random bytes. A time before the last id's is taken as the last one's."""
        assert len(random_bytes) == 16, "a UUID takes 16 random bytes"
        number = int.from_bytes(random_bytes)
        if at_ms > self._latest_ms:
            # The highest bit stays clear, so that the random part has room to grow.
            self._latest_ms, self._random = at_ms, number % (1 << (RANDOM_BITS - 1))
        else:
            self._random += 1 + number % (1 << STEP_BITS)
            if self._random >= 1 << RANDOM_BITS:
                self._latest_ms, self._random = self._latest_ms + 1, number % (1 << (RANDOM_BITS - 1))
        high, low = divmod(self._random, 1 << 62)
        return str(UUID(int=(self._latest_ms << 80) | (7 << 76) | (high << 64) | (0b10 << 62) | low))


class SystemEntropy:
    """The operating system's randomness."""

    def __init__(self) -> None:
        self._uuids = UuidSequence()

    def random_bytes(self, count: int) -> bytes:
        """`count` bytes of the operating system's randomness."""
        return os.urandom(count)

    def uuid7(self, at_ms: int) -> str:
        """A new UUIDv7."""
        return self._uuids.next(at_ms, os.urandom(16))


class SeededEntropy:
    """The same bytes and ids from the same seed: for simulations and tests only."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._calls = 0
        self._uuids = UuidSequence()

    def random_bytes(self, count: int) -> bytes:
        """The next `count` bytes of the sequence."""
        self._calls += 1
        return hashlib.shake_256(f"{self._seed}/{self._calls}".encode()).digest(count)

    def uuid7(self, at_ms: int) -> str:
        """The next id of the sequence."""
        return self._uuids.next(at_ms, self.random_bytes(16))
