"""A bot: follows one table over its event stream and does what `legal_actions` offers it, by chance."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from infra.entropy import Entropy, SystemEntropy
from infra.telemetry import logger
from services.bots.client import Client, Problem
from services.bots.stream import Message, follow

SEED_BYTES = 16
BOLDNESS = 0.35
"""How often a bot declares, helps or draws where it could pass: play is then of all kinds, and seldom of none."""
SHY = ("pass", "decline")

Refill = Callable[[int], Awaitable[None]]
"""Brings so much to the bot's account, from wherever its money comes."""

OnEvent = Callable[[dict[str, Any]], None]
"""Told of every event that the bot sees, before it does anything about it."""

log = logger("bots")


class Bot:
    """One player at one table. `chance` makes its choices, `entropy` its seeds (S2); `buy_in` is in minor units.

    It sits down, gives a fresh seed for every hand, answers each decision, tops up when broke, comes back when it was
    made to sit out, and ends when the table closes. `refill` is asked when the account holds too little for that.
    """

    def __init__(
        self,
        client: Client,
        table_id: str,
        player: str,
        chance: random.Random,
        buy_in: int,
        refill: Refill,
        entropy: Entropy | None = None,
    ) -> None:
        self.player = player
        self.actions = 0
        self.top_ups = 0
        self.on_event: OnEvent = lambda event: None
        self._client = client
        self._path = f"/v1/tables/{table_id}"
        self._chance = chance
        self._buy_in = buy_in
        self._refill = refill
        self._entropy = entropy or SystemEntropy()
        self._stake = 0
        self._seat: int | None = None
        self._answered = -1

    async def sit(self, least: int = 0) -> None:
        """Sit down at any free seat, with `least` where that is more than the usual (T2). Raises Problem."""
        buy_in = max(self._buy_in, least)
        await self._with_money(buy_in, "seat", {"buy_in": buy_in})

    async def play(self) -> None:
        """Play until the table closes. Raises Problem where the table cannot be followed."""
        async for message in follow(self._client, f"{self._path}/events"):
            match message.event:
                case "snapshot":
                    await self._begin(message.data)
                case "event":
                    await self._on(message)
                case "end" if message.data.get("reason") == "table_closed":
                    return
                case _:
                    pass

    async def _begin(self, view: Mapping[str, Any]) -> None:
        """Take up play as the whole view has it."""
        self._stake = view["settings"]["stake"]
        own = view["you"]
        if own is None:
            return
        self._seat = own["seat"]
        mine = next(s for s in view["seats"] if s["seat"] == self._seat)
        if mine["sitting_out"]:
            await self._try("return")
        if not mine["in_hand"] and mine["purse"] < self._stake:
            await self._top_up()
        if view["next_hand"] is not None and not mine["in_hand"]:
            await self._give_seed(view["next_hand"]["hand_id"])
        if view["turn"] is not None:
            await self._answer(view["turn"], own["legal_actions"])

    async def _on(self, message: Message) -> None:
        """Do what an event asks for."""
        event = message.data
        self.on_event(event)
        match event["type"]:
            case "player_sat" if event["player"] == self.player:
                self._seat = event["seat"]
            case "player_sat_out" if event["seat"] == self._seat:
                await self._try("return")
            case "player_left" if event["player"] == self.player:
                self._seat = None
                if event["reason"] == "idle":
                    await self.sit()
            case "hand_settled":
                purses = {p["seat"]: p["purse"] for p in event["result"]["players"]}
                if self._seat is not None and purses.get(self._seat, self._stake) < self._stake:
                    await self._top_up()
            case "hand_started" if self._seat is not None and self._seat not in event["dealt_in"]:
                await self._top_up()  # the one after the last hand was refused
            case "hand_committed" if self._seat is not None:
                await self._give_seed(event["hand_id"])
            case _:
                pass
        if event.get("turn") is not None:
            await self._answer(event["turn"], event.get("legal_actions", ()))

    async def _answer(self, turn: Mapping[str, Any], offers: Sequence[Mapping[str, Any]]) -> None:
        """Answer the open decision where it is this bot's, once."""
        if turn["seat"] != self._seat or turn["turn"] <= self._answered or not offers:
            return
        action = choose(offers, self._chance)
        if action["do"] != "look":  # F2: a look is open at any time and answers no decision
            self._answered = turn["turn"]
        if await self._try("actions", {"turn": turn["turn"], **action}):
            self.actions += 1

    async def _give_seed(self, hand_id: str) -> None:
        """S2: a fresh one for every hand; too late for a hand that has started meanwhile is no harm."""
        seed = self._entropy.random_bytes(SEED_BYTES).hex()
        await self._try("client-seed", {"hand_id": hand_id, "client_seed": seed})

    async def _top_up(self) -> None:
        if await self._with_money(self._buy_in, "top-up", {"amount": self._buy_in}):
            self.top_ups += 1

    async def _with_money(self, amount: int, what: str, body: Mapping[str, Any]) -> bool:
        """Do what takes `amount` from the account; where there is too little, have it refilled and do it again."""
        try:
            await self._client.post(f"{self._path}/{what}", body)
        except Problem as problem:
            if problem.code != "insufficient_funds":
                return self._refused(what, problem)
            await self._refill(amount)
            return await self._try(what, body)
        return True

    async def _try(self, what: str, body: Mapping[str, Any] | None = None) -> bool:
        """Whether the service took it. A refusal is no harm: the events that follow say how things stand."""
        try:
            await self._client.post(f"{self._path}/{what}", body)
        except Problem as problem:
            return self._refused(what, problem)
        return True

    def _refused(self, what: str, problem: Problem) -> bool:
        if problem.status not in (409, 429):
            raise problem
        log.info("bot_refused", player=self.player, what=what, code=problem.code)
        return False


def choose(offers: Sequence[Mapping[str, Any]], chance: random.Random) -> dict[str, Any]:
    """One of the offers as an action, without its turn. F2: cards that lie face down are looked at first."""
    if any(o["do"] == "look" for o in offers):
        return {"do": "look"}
    shy = [o for o in offers if o["do"] in SHY]
    bold = [o for o in offers if o["do"] not in SHY]
    among = bold if bold and (not shy or chance.random() < BOLDNESS) else shy
    offer = chance.choice(among)
    if offer["do"] == "play":
        return {"do": "play", "card": chance.choice(offer["cards"])}
    if offer["do"] not in ("discard", "draw"):
        return {"do": offer["do"]}
    count = chance.randint(offer.get("least", 0), offer.get("most", 0))
    return {"do": offer["do"], "cards": chance.sample(offer.get("cards", ()), count)}
