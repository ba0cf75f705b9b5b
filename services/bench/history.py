"""Tables with a long past, made fast: the domain decides, the store appends, nobody waits for HTTP or a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.commands import Fresh
from domain.events import Event, Settings
from infra.codec import Codec
from infra.entropy import Entropy
from infra.meta import Meta, encode_meta
from infra.sealing import Sealer
from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend
from services.bench.selfplay import SelfPlay
from services.play.service import table_stream

AT_ONCE = 500
"""About so many events are appended at a time."""


class Past:
    """One table and its past; hands are appended some at a time, as one command."""

    def __init__(
        self, store: EventStore, codec: Codec, sealer: Sealer, entropy: Entropy, table_id: str, settings: Settings
    ) -> None:
        self.table_id = table_id
        self.events = 0
        self._store = store
        self._codec = codec
        self._sealer = sealer
        self._entropy = entropy
        self._play = SelfPlay(settings, table_id, self._fresh, self._told)
        self._hash = GENESIS
        self._waiting: list[NewEvent] = []

    async def begin(self) -> None:
        """Open the table and seat the players."""
        self._play.begin()
        await self._append()

    async def hands(self, count: int, played: Callable[[int], None] = lambda hands: None) -> None:
        """Play whole hands; `played` is told of each."""
        for n in range(count):
            self._play.hand()
            if len(self._waiting) >= AT_ONCE or n == count - 1:
                await self._append()
                played(n + 1)

    async def part_of_a_hand(self, events: int) -> None:
        """Play until so many events lie behind the start of the hand that runs."""
        while True:
            running = self._play.start()
            began = self.events
            while running:
                if self.events - began >= events:
                    await self._append()
                    return
                running = self._play.act()
            await self._append()

    def _fresh(self, at_ms: int) -> Fresh:
        hand_id = self._entropy.uuid7(at_ms)
        return Fresh(
            hand_id=hand_id,
            server_seed=self._entropy.random_bytes(32).hex(),
            key_commitment=self._sealer.key_commitment(hand_id).hex(),
        )

    def _told(self, events: Sequence[Event], at_ms: int) -> None:
        meta = encode_meta(Meta(at_ms=at_ms, subject="bench", role="player", by="person", request=64 * "0"))
        for event in events:
            self.events += 1
            self._waiting.append(self._codec.encode(event, table_stream(self.table_id), self.events, meta))

    async def _append(self) -> None:
        expected = self.events - len(self._waiting)
        stream = StreamAppend(table_stream(self.table_id), expected, self._hash, tuple(self._waiting))
        verdict = await self._store.append(Append(self._entropy.random_bytes(16), (stream,)))
        assert isinstance(verdict, Appended), verdict
        self._hash = verdict.heads[0].hash
        self._waiting.clear()
