"""Who is at play: tables of all three games, their bots, who come and go, and the people who open and close."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from infra.entropy import Entropy
from services.api.tokens import Signer
from services.bots import Bot, Client, Problem
from services.chaos.acknowledged import Kept, Recording

CURRENCY = "RUB"
GAMES = ("khrap", "frap", "khrap5")
PLAYERS = 3
STAKE = 2_001
"""No round sum: shares and commission leave remainders."""
BUY_IN = 20 * STAKE
LEAVES = 0.05
"""How often a player leaves after a hand, to come again a little later."""
AWAY_S = (0.5, 3.0)
LOOK_S = 2.0

SETTINGS: dict[str, Any] = {
    "currency": CURRENCY,
    "stake": STAKE,
    "max_seats": PLAYERS,
    # Short enough for the clock to have a part in the game whenever a process is away.
    "turn_ms": 2_000,
    "time_bank_ms": 2_000,
    "pause_ms": 100,
}


class Table:
    """One table and its bots; `delayed` says whether spectators see it later than players."""

    def __init__(self, table_id: str, bots: Sequence[Guest], *, delayed: bool) -> None:
        self.table_id = table_id
        self.delayed = delayed
        self.bots = bots
        self.stream = f"table-{table_id}"


class Guest:
    """A bot that leaves now and then, and comes again with no less than it took along (T2)."""

    def __init__(self, bot: Bot, client: Client, table_id: str, chance: random.Random) -> None:
        self.bot = bot
        self._client = client
        self._path = f"/v1/tables/{table_id}"
        self._chance = chance
        self._stirred = asyncio.Event()
        self._leaves = False
        self._left_with: int | None = None
        self.absences = 0
        bot.on_event = self._saw

    async def play(self) -> None:
        """Play until the table closes."""
        async with asyncio.TaskGroup() as group:
            going = group.create_task(self._come_and_go())
            await self.bot.play()
            going.cancel()

    def _saw(self, event: dict[str, Any]) -> None:
        if event["type"] == "player_left" and event["player"] == self.bot.player:
            self._left_with = event["purse"]
            self._stirred.set()
        elif event["type"] == "hand_settled" and self._chance.random() < LEAVES:
            self._leaves = True
            self._stirred.set()

    async def _come_and_go(self) -> None:
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            if self._left_with is not None:
                await asyncio.sleep(self._chance.uniform(*AWAY_S))
                await self._come_back(self._left_with)
                self._left_with = None
            elif self._leaves:
                await self._leave()
            self._leaves = False

    async def _leave(self) -> None:
        try:
            await self._client.post(f"{self._path}/leave")
        except Problem as problem:
            if problem.status != 409:  # he has left already, or does
                raise

    async def _come_back(self, least: int) -> None:
        """Sit down, as often as it takes: who comes and goes too often in a minute is refused for a while (T3)."""
        while True:
            await self.bot.sit(least)
            view = await self._client.get(self._path)
            if view["you"] is not None:
                self.absences += 1
                return
            if view["closing"] or view["closed"]:
                return
            await asyncio.sleep(LOOK_S)


class House:
    """The people: an operator, a cashier, and the players at so many tables of each game."""

    def __init__(
        self,
        nodes: Sequence[str],
        signer: Signer,
        entropy: Entropy,
        kept: Kept,
        patience_s: float,
        chance: random.Random,
    ) -> None:
        self._patience_s = patience_s
        self._nodes = nodes
        self._signer = signer
        self._entropy = entropy
        self._kept = kept
        self._chance = chance
        self._operator = self._client("operator", "operator")
        self._cashier = self._client("cashier", "cashier")
        self.tables: list[Table] = []

    def _client(self, subject: str, role: str, chance: random.Random | None = None) -> Recording:
        nodes = self._chance.sample(self._nodes, len(self._nodes))
        token = self._signer.bearer(subject, role)
        return Recording(nodes, token, self._entropy, self._kept, self._patience_s, chance)

    async def open(self, tables: int) -> None:
        """So many tables of each game, with everybody in his seat."""
        for number in range(tables):
            for game in GAMES:
                delayed = number % 2 == 1
                settings = {**SETTINGS, "options": {"game": game}, "spectator_delay_ms": 500 if delayed else 0}
                opened = await self._operator.post("/v1/tables", settings)
                table_id = opened["table_id"]
                bots = [await self._guest(f"{game}-{number}-{seat}", table_id) for seat in range(PLAYERS)]
                self.tables.append(Table(table_id, bots, delayed=delayed))

    async def _guest(self, player: str, table_id: str) -> Guest:
        await self._cashier.post("/v1/accounts", {"player": player, "currency": CURRENCY})
        refill = partial(self._refill, player)
        await refill(BUY_IN)
        chance = random.Random(self._chance.random())  # noqa: S311 (choices at play, which a seed must repeat)
        client = self._client(player, "player", chance)
        bot = Bot(client, table_id, player, chance, BUY_IN, refill, self._entropy)
        await bot.sit()
        return Guest(bot, client, table_id, chance)

    async def _refill(self, player: str, amount: int) -> None:
        await self._cashier.post(f"/v1/accounts/{player}/{CURRENCY}/deposits", {"amount": 3 * amount})

    async def play(self) -> None:
        """Until all tables are closed."""
        async with asyncio.TaskGroup() as group:
            for table in self.tables:
                for guest in table.bots:
                    group.create_task(guest.play())

    async def close(self) -> None:
        """Have all tables close after their hands."""
        for table in self.tables:
            await self._operator.post(f"/v1/tables/{table.table_id}/close", {"reason": "the day was bad enough"})
