"""Bots over a real API: they play on when it goes away and comes back, and when their money runs out."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from infra.entropy import SystemEntropy
from services.api.tokens import Signer
from services.bench.common import temporary_home
from services.bots import Client, Problem
from services.bots.bot import choose
from services.core import Core, open_core
from services.demo.room import CURRENCY, Room
from services.runtime import running


@pytest_asyncio.fixture
async def core() -> AsyncIterator[Core]:
    with temporary_home() as settings:
        async with open_core(settings) as core:
            yield core


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_bots_play_on_over_a_restart_of_the_api(core: Core) -> None:
    entropy, port = SystemEntropy(), free_port()
    room = Room(f"http://127.0.0.1:{port}", Signer(core.keys, core.clock, entropy), entropy, "x")
    some = asyncio.Event()

    def count(hands: int) -> None:
        if hands == 3:
            some.set()

    async with running(core, ("api", "steward"), port=port):
        await room.open("khrap", 3, random.Random(3))
        playing = asyncio.create_task(room.play(12, count))
        await some.wait()
    # The streams have ended and connections are refused; the bots try again until the service is back.
    assert not playing.done()
    async with running(core, ("api", "steward"), port=port):
        async with asyncio.timeout(60):
            await playing
    assert room.hands == 12
    assert all(bot.actions > 0 for bot in room.bots)
    balances = [await core.play.accounts.account(bot.player, CURRENCY) for bot in room.bots]
    assert sum(found[1].balance for found in balances if found is not None) <= sum(room.brought.values())


async def test_a_problem_says_what_the_service_said(core: Core) -> None:
    entropy = SystemEntropy()
    signer = Signer(core.keys, core.clock, entropy)
    async with running(core, ("api",)) as address:
        with pytest.raises(Problem) as caught:
            await Client(address, signer.bearer("anna", "player")).post("/v1/accounts", {"player": "anna"})
        assert (caught.value.status, caught.value.code) == (403, "not_allowed")
        cashier = Client(address, signer.bearer("cashier", "cashier"))
        await cashier.post("/v1/accounts", {"player": "anna", "currency": "RUB"})
        with pytest.raises(Problem) as caught:
            await cashier.post("/v1/accounts", {"player": "anna", "currency": "RUB"})
        assert (caught.value.status, caught.value.code) == (409, "account_exists")


def test_a_bot_looks_first_and_keeps_to_what_is_offered() -> None:
    chance = random.Random(1)
    assert choose([{"do": "frap"}, {"do": "pass"}, {"do": "look"}], chance) == {"do": "look"}
    assert choose([{"do": "discard", "cards": ["As", "Ks"], "least": 2, "most": 2}], chance)["cards"] in (
        ["As", "Ks"],
        ["Ks", "As"],
    )
    assert choose([{"do": "draw", "cards": ["As", "Ks"]}], chance) == {"do": "draw", "cards": []}  # an empty stock
    for _ in range(100):
        chosen = choose([{"do": "draw", "cards": ["As", "Ks", "Qs"], "most": 3}], chance)
        assert len(set(chosen["cards"])) == len(chosen["cards"]) <= 3
        assert choose([{"do": "play", "cards": ["As", "Ks"], "least": 1, "most": 1}], chance)["card"] in ("As", "Ks")
