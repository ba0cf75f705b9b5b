"""A small house for tests of play and steward: a store on a real database, keys and seeds that repeat, a table."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

from domain.actions import Action
from domain.commands import Act, Deposit, Fresh, OpenAccount, Sit, TableCommand
from domain.events import Settings
from domain.options import KhrapOptions
from domain.table import Table, deadline, running, seat_at
from domain.views import legal_actions, own_cards
from infra.clock import Clock, SystemClock
from infra.codec import Codec
from infra.entropy import SeededEntropy, SystemEntropy
from infra.sealing import Sealer
from infra.store import EventStore
from services.play.service import Play
from services.play.types import AccountAnswer, Answer, Caller, Outcome, Request

MASTER = bytes(range(32))
SETTINGS = Settings(
    currency="RUB",
    stake=2_000,
    entry_limit=40_000,
    max_seats=5,
    commission_bps=400,
    options=KhrapOptions(),
    pause_ms=0,
)
_keys = count()


class House:
    """One process's play on one store."""

    def __init__(self, store: EventStore, clock: Clock, seed: str | None) -> None:
        entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
        sealer = Sealer(MASTER, entropy)
        self.store = store
        self.clock = clock
        self.play = Play(store, Codec(sealer), sealer, clock, entropy)

    async def account(self, player: str, amount: int, currency: str = "RUB") -> None:
        """An account with `amount` on it."""
        cashier = "cashier"
        opened = await self.play.accounts.command(
            player, currency, request(cashier), lambda at: OpenAccount(at_ms=at, player=player, currency=currency)
        )
        assert isinstance(opened, AccountAnswer), opened
        done = await self.play.accounts.command(
            player, currency, request(cashier), lambda at: Deposit(at_ms=at, amount=amount)
        )
        assert isinstance(done, AccountAnswer), done

    async def table(self, *players: str, buy_in: int = 100_000, settings: Settings = SETTINGS) -> str:
        """A table at which the players sit, each with twice the buy-in on his account before."""
        table_id, opened = await self.play.open_table(request("operator"), settings)
        assert isinstance(opened, Answer), opened
        for player in players:
            await self.account(player, 2 * buy_in)
            assert isinstance(await self.sit(table_id, player, buy_in), Answer)
        return table_id

    async def sit(self, table_id: str, player: str, buy_in: int) -> Outcome:
        """Sit down at the lowest free seat."""

        def make(at: int, _: Fresh) -> TableCommand:
            return Sit(at_ms=at, player=player, buy_in=buy_in)

        return await self.play.command(table_id, request(player), make)

    async def do(self, table_id: str, player: str, make: Callable[[int, Fresh], TableCommand]) -> Outcome:
        """Any command, under a key of its own."""
        return await self.play.command(table_id, request(player), make)

    async def balance(self, player: str, currency: str = "RUB") -> int:
        """What is on the account."""
        found = await self.play.accounts.account(player, currency)
        assert found is not None
        return found[1].balance

    async def state(self, table_id: str) -> Table:
        """The table as the log has it."""
        found = await self.play.table(table_id)
        assert found is not None
        return found[1]


def request(subject: str, key: str | None = None, digest: str = "d", role: str = "player") -> Request:
    """A request with a key that nobody else has, or the given one."""
    return Request(Caller(subject, role), f"key-{next(_keys)}" if key is None else key, digest)


def some_action(table: Table, chance: random.Random) -> tuple[str, Action]:
    """Whose turn it is, and one of his legal actions."""
    due = deadline(table)
    assert due is not None
    seat = seat_at(table, due.seat)
    assert seat is not None
    offer = chance.choice(legal_actions(table, seat.player))
    if offer.do == "play":
        return seat.player, Action(do="play", card=chance.choice(offer.cards))
    if offer.do in ("discard", "draw"):
        cards = own_cards(table, seat.player) or ()
        named = tuple(chance.sample(cards, chance.randint(offer.least, offer.most)))
        return seat.player, Action(do="discard" if offer.do == "discard" else "draw", cards=named)
    return seat.player, Action(do=offer.do)  # type: ignore[arg-type]


def acting(player: str, turn: int, action: Action) -> Callable[[int, Fresh], TableCommand]:
    """The command of a player's action."""
    return lambda at, fresh: Act(at_ms=at, player=player, turn=turn, action=action, fresh=fresh)


async def play_hand(house: House, table_id: str, chance: random.Random) -> None:
    """Play the running hand to its end."""
    while running(table := await house.state(table_id)) is not None:
        player, action = some_action(table, chance)
        assert isinstance(await house.do(table_id, player, acting(player, table.turn, action)), Answer)


@asynccontextmanager
async def house_on(url: str, clock: Clock | None = None, seed: str | None = None) -> AsyncIterator[House]:
    """A house on the database at `url`; with a `seed`, its chance repeats."""
    async with await EventStore.open(url) as store:
        yield House(store, clock or SystemClock(), seed)
