"""Tables with a long past, made fast: the domain decides, the store appends, nobody waits for HTTP or a clock."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from domain.actions import Action
from domain.commands import Act, Fresh, OpenTable, Sit, StartHand, TableCommand, TopUp
from domain.decide import decide
from domain.events import Settings
from domain.evolve import evolve
from domain.hand import asked
from domain.legal import offers
from domain.options import KhrapOptions
from domain.refusal import Refused
from domain.table import Table, running, seat_at, short
from infra.codec import Codec
from infra.entropy import Entropy
from infra.meta import Meta, encode_meta
from infra.sealing import Sealer
from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend
from services.bots.bot import choose
from services.play.service import table_stream

STAKE = 100
PLAYERS = ("anna", "boris", "vera")
AT_ONCE = 500
"""About so many events are appended at a time."""
PAUSE_MS = 1_000
"""How far the table's time goes on with each command."""
SETTINGS = Settings(
    currency="RUB",
    stake=STAKE,
    entry_limit=20 * STAKE,
    max_seats=len(PLAYERS),
    commission_bps=400,
    options=KhrapOptions(),
    pause_ms=PAUSE_MS,
)

Make = Callable[[int, Fresh], TableCommand]


def _sit(player: str) -> Make:
    return lambda at, _: Sit(at_ms=at, player=player, buy_in=SETTINGS.entry_limit)


def _top_up(player: str) -> Make:
    return lambda at, _: TopUp(at_ms=at, player=player, amount=SETTINGS.entry_limit)


class Past:
    """One table and its past; hands are appended some at a time, as one command."""

    def __init__(self, store: EventStore, codec: Codec, sealer: Sealer, entropy: Entropy, table_id: str) -> None:
        self.table_id = table_id
        self.events = 0
        self._store = store
        self._codec = codec
        self._sealer = sealer
        self._entropy = entropy
        self._chance = random.Random(table_id)  # noqa: S311 (choices at play)
        self._at_ms = 1_700_000_000_000
        self._table: Table | None = None
        self._hash = GENESIS
        self._waiting: list[NewEvent] = []

    async def begin(self) -> None:
        """Open the table and seat the players."""
        self._do(lambda at, fresh: OpenTable(at_ms=at, settings=SETTINGS, fresh=fresh))
        for player in PLAYERS:
            self._do(_sit(player))
        await self._append()

    async def hands(self, count: int, played: Callable[[int], None] = lambda hands: None) -> None:
        """Play whole hands; `played` is told of each."""
        for n in range(count):
            self._start()
            while running(self._now()) is not None:
                self._act()
            if len(self._waiting) >= AT_ONCE or n == count - 1:
                await self._append()
                played(n + 1)

    async def part_of_a_hand(self, events: int) -> None:
        """Play until so many events lie behind the start of the hand that runs."""
        while True:
            self._start()
            began = self.events
            while running(self._now()) is not None:
                if self.events - began >= events:
                    await self._append()
                    return
                self._act()
            await self._append()

    def _now(self) -> Table:
        assert self._table is not None, "begin first"
        return self._table

    def _start(self) -> None:
        for seat in self._now().seats:
            if short(self._now(), seat):
                self._do(_top_up(seat.player))
        self._do(lambda at, _: StartHand(at_ms=at))

    def _act(self) -> None:
        table = self._now()
        hand = running(table)
        assert hand is not None
        seat = asked(hand)
        assert seat is not None
        sitting = seat_at(table, seat)
        assert sitting is not None
        chosen = choose(msgspec.to_builtins(offers(hand, seat)), self._chance)
        action = msgspec.convert(chosen, Action)
        turn, player = table.turn, sitting.player
        self._do(lambda at, fresh: Act(at_ms=at, player=player, turn=turn, action=action, fresh=fresh))

    def _do(self, make: Make) -> None:
        self._at_ms += PAUSE_MS
        hand_id = self._entropy.uuid7(self._at_ms)
        fresh = Fresh(
            hand_id=hand_id,
            server_seed=self._entropy.random_bytes(32).hex(),
            key_commitment=self._sealer.key_commitment(hand_id).hex(),
        )
        events = decide(self._table, make(self._at_ms, fresh))
        assert not isinstance(events, Refused), events
        meta = encode_meta(Meta(at_ms=self._at_ms, subject="bench", role="player", by="person", request=64 * "0"))
        for event in events:
            self._table = evolve(self._table, event, self._at_ms)
            self.events += 1
            self._waiting.append(self._codec.encode(event, table_stream(self.table_id), self.events, meta))

    async def _append(self) -> None:
        expected = self.events - len(self._waiting)
        stream = StreamAppend(table_stream(self.table_id), expected, self._hash, tuple(self._waiting))
        verdict = await self._store.append(Append(self._entropy.random_bytes(16), (stream,)))
        assert isinstance(verdict, Appended), verdict
        self._hash = verdict.heads[0].hash
        self._waiting.clear()
