"""The demo's table and its people: a cashier, an operator, and bots, all of them over HTTP."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from infra.entropy import Entropy
from services.api.tokens import Signer
from services.bots import Bot, Client

CURRENCY = "RUB"
STAKE = 2_000
BUY_IN = 20 * STAKE
"""T1: the entry limit."""
DEPOSIT = 3 * BUY_IN
PAUSE_MS = 5
"""Between hands, so that the bots' seeds for the next one are on their way before it starts."""
TURN_MS = 30_000
NAMES = ("anna", "boris", "vera", "gleb", "dasha", "egor", "zhanna", "ivan", "kira", "lev", "maria", "nikita")

OnHand = Callable[[int], None]


class Room:
    """One table for so many hands, and who plays there. Names end in `suffix`, so that every run has its own."""

    def __init__(self, address: str, signer: Signer, entropy: Entropy, suffix: str) -> None:
        self._address = address
        self._signer = signer
        self._entropy = entropy
        self._suffix = suffix
        self._cashier = self._client(f"cashier-{suffix}", "cashier")
        self._operator = self._client(f"operator-{suffix}", "operator")
        self.brought: dict[str, int] = {}
        self.bots: list[Bot] = []
        self.table_id = ""
        self.hands = 0

    def _client(self, subject: str, role: str) -> Client:
        return Client(self._address, self._signer.bearer(subject, role), self._entropy)

    async def open(self, game: str, players: int, chance: random.Random) -> None:
        """Open the table and the accounts, deposit, seat the bots."""
        opened = await self._operator.post(
            "/v1/tables",
            {
                "currency": CURRENCY,
                "stake": STAKE,
                "max_seats": players,
                "pause_ms": PAUSE_MS,
                "turn_ms": TURN_MS,
                "options": {"game": game},
            },
        )
        self.table_id = opened["table_id"]
        for name in NAMES[:players]:
            player = f"{name}-{self._suffix}"
            await self._cashier.post("/v1/accounts", {"player": player, "currency": CURRENCY})
            self.brought[player] = 0
            await self._deposit(player, DEPOSIT)
            self.bots.append(
                Bot(
                    self._client(player, "player"),
                    self.table_id,
                    player,
                    random.Random(chance.random()),  # noqa: S311 (choices at play, which a seed must repeat)
                    BUY_IN,
                    partial(self._deposit, player),
                    self._entropy,
                )
            )

    async def _deposit(self, player: str, amount: int) -> None:
        await self._cashier.post(f"/v1/accounts/{player}/{CURRENCY}/deposits", {"amount": amount})
        self.brought[player] += amount

    async def play(self, hands: int, on_hand: OnHand) -> None:
        """Play so many hands, and close the table."""
        self.bots[0].on_event = lambda event: self._watch(event, hands, on_hand)
        async with asyncio.TaskGroup() as group:
            self._group = group
            for bot in self.bots:
                group.create_task(bot.play())
            # All follow the table before the first hand can start.
            for bot in self.bots:
                await bot.sit()

    def _watch(self, event: dict[str, Any], hands: int, on_hand: OnHand) -> None:
        match event["type"]:
            case "hand_started" if self.hands == hands - 1:
                # The table closes after the hand that runs, which is the last one wanted.
                self._group.create_task(self._close())
            case "hand_settled" | "hand_voided":
                self.hands += 1
                on_hand(self.hands)
            case _:
                pass

    async def _close(self) -> None:
        await self._operator.post(f"/v1/tables/{self.table_id}/close", {"reason": "the demo is over"})
