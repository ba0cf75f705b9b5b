"""How many event streams one caller and one node may hold open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Self

from msgspec import Struct

PER_CALLER = 32
PER_NODE = 5_000
RESERVED = 5
"""One of so many places is for callers with a token: who has none cannot take all, from however many addresses."""


class TooManyStreams(Exception):
    """The caller, or this node, holds as many event streams as it may. The text says which."""


class Holder(Struct, frozen=True):
    """Whom streams are counted under: a token's subject, or an address where there is no token."""

    name: str
    has_token: bool

    @classmethod
    def at(cls, host: str) -> Self:
        """Who calls from `host` without a token; of IPv6 its /64, all of which one subscriber has."""
        try:
            address = ip_address(host)
        except ValueError:
            return cls(host, has_token=False)
        if isinstance(address, IPv6Address):
            address = address.ipv4_mapped or IPv6Network((int(address), 64), strict=False).network_address
        return cls(str(address), has_token=False)


class Streams:
    """Counts the open streams by who holds them."""

    def __init__(self, per_caller: int = PER_CALLER, per_node: int = PER_NODE) -> None:
        self._per_caller = per_caller
        self._per_node = per_node
        self._open: Counter[Holder] = Counter()
        self._total = 0
        self._without_token = 0

    @property
    def total(self) -> int:
        """How many are open."""
        return self._total

    def require_room(self, holder: Holder) -> None:
        """Raises TooManyStreams."""
        if self._open[holder] >= self._per_caller:
            raise TooManyStreams(f"{self._per_caller} event streams a caller may be open; close one")
        if self._total >= self._per_node:
            raise TooManyStreams(f"this node holds {self._per_node} event streams, all it may; try again later")
        open_to_all = self._per_node - self._per_node // RESERVED
        if not holder.has_token and self._without_token >= open_to_all:
            raise TooManyStreams(f"this node holds {open_to_all} event streams without a token, all it may; send one")

    @contextmanager
    def held(self, holder: Holder) -> Iterator[None]:
        """One stream, counted for as long as the block runs. Raises TooManyStreams."""
        self.require_room(holder)
        self._open[holder] += 1
        self._total += 1
        self._without_token += not holder.has_token
        try:
            yield
        finally:
            self._without_token -= not holder.has_token
            self._total -= 1
            self._open[holder] -= 1
            if not self._open[holder]:
                del self._open[holder]
