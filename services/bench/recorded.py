"""Recorded hands of all three games: played by chance through the domain, appended to the store, read back from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from infra.entropy import SystemEntropy
from infra.store import StoredEvent
from services.bench.history import Past
from services.bench.selfplay import EVENINGS, settings_of
from services.core import Core
from services.play.service import table_stream

Hand = tuple[StoredEvent, ...]
"""The stored events of one hand, from its HandStarted to its HandSettled or HandVoided."""


class Recorded(Struct, frozen=True):
    """The streams of some tables, and the hands in them."""

    streams: tuple[str, ...]
    hands: tuple[Hand, ...]

    @property
    def events(self) -> int:
        """Of all hands together."""
        return sum(len(hand) for hand in self.hands)


async def record(core: Core, hands: int, played: Callable[[int], None]) -> Recorded:
    """Play so many hands, a table for each game, and read back what the store holds of them."""
    streams: list[str] = []
    found: list[Hand] = []
    for number, evening in enumerate(EVENINGS.values()):
        entropy = SystemEntropy()
        table_id = entropy.uuid7(core.clock.now_ms())
        past = Past(core.store, core.codec, core.sealer, entropy, table_id, settings_of(evening))
        await past.begin()
        share = hands // len(EVENINGS) + (number < hands % len(EVENINGS))
        before = len(found)
        await past.hands(share, partial(_count, played, before))
        streams.append(table_stream(table_id))
        found += _hands(await core.store.read_stream(streams[-1]))
    return Recorded(tuple(streams), tuple(found))


def _count(played: Callable[[int], None], before: int, done: int) -> None:
    played(before + done)


def _hands(stored: list[StoredEvent]) -> list[Hand]:
    """The hands of a stream."""
    found = []
    started = 0
    for number, event in enumerate(stored):
        if event.type == "hand_started":
            started = number
        elif event.type in ("hand_settled", "hand_voided"):
            found.append(tuple(stored[started : number + 1]))
    return found
