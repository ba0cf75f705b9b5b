"""The demo's course: everything started, a table played over HTTP, and all of it checked from the log."""

from __future__ import annotations

import random
import time
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from domain.games import newest
from infra.entropy import SystemEntropy
from infra.settings import Settings
from services.api.tokens import Signer
from services.core import Core, open_core
from services.demo.check import Checked, check
from services.demo.room import CURRENCY, Room
from services.demo.summary import Player, Summary, Told
from services.demo.telling import last_hand
from services.processes import part
from services.runtime import running

SUFFIX_BYTES = 3


class Progress(Protocol):
    """How far a long work is."""

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        """`done` of `total`."""


class Outcome(Struct, frozen=True):
    """What a run came to."""

    summary: Summary
    told: Told
    holds: bool


def too_many_players(game: str, players: int) -> bool:
    """Whether a table of this game has fewer seats."""
    return players > newest(game).max_seats


async def run_demo(
    settings: Settings, *, hands: int, players: int, game: str, seed: int | None, progress: Progress
) -> Outcome:
    """Play so many hands and check the whole log. Raises Fault, and Problem where the service refuses a demo at all."""
    began = time.monotonic()
    chance = random.Random(seed)  # noqa: S311 (choices at play, which a seed must repeat)
    progress(0, hands, "starting")
    # The projector has a process of its own, and so a core of its own where there are two.
    async with (
        open_core(settings) as core,
        part(replace(settings, log_level="warning"), ["projector"]),
        running(core, ("api", "steward")) as address,
    ):
        room = await _played(core, address, game, players, hands, chance, progress)
        progress(hands, hands, "checking")
        checked = await check(core, CURRENCY)
        told_id, lines = await last_hand(core.play, room.table_id)
        accounts = await _accounts(core, room)
    summary = Summary(
        hands=room.hands,
        events=checked.events,
        deposited=checked.deposited,
        in_accounts=checked.in_accounts,
        in_purses=checked.in_purses,
        in_banks=checked.in_banks,
        commission=checked.commission,
        players=tuple(Player(player, account) for player, account in accounts.items()),
        trial_balance=checked.trial_balance,
        ledger_mismatches=len(checked.differences),
        chain=checked.chain,
        seconds=round(time.monotonic() - began, 3),
    )
    told = Told(
        currency=CURRENCY,
        table_id=room.table_id,
        hand_id=told_id,
        lines=lines,
        actions={bot.player: bot.actions for bot in room.bots},
        top_ups={bot.player: bot.top_ups for bot in room.bots},
        brought=dict(room.brought),
        differences=checked.differences,
    )
    return Outcome(summary, told, _holds(summary, checked, hands))


async def _played(
    core: Core, address: str, game: str, players: int, hands: int, chance: random.Random, progress: Progress
) -> Room:
    entropy = SystemEntropy()
    signer = Signer(core.keys, core.clock, entropy)
    room = Room(address, signer, entropy, entropy.random_bytes(SUFFIX_BYTES).hex())
    await room.open(game, players, chance)
    await room.play(hands, lambda done: progress(done, hands, "playing"))
    return room


async def _accounts(core: Core, room: Room) -> dict[str, int]:
    """What each player has on his account, from its stream."""
    found = {}
    for player in room.brought:
        account = await core.play.accounts.account(player, CURRENCY)
        assert account is not None, player
        found[player] = account[1].balance
    return found


def _holds(summary: Summary, checked: Checked, hands: int) -> bool:
    books = summary.is_balanced and summary.trial_balance == 0 and summary.ledger_mismatches == 0
    return summary.hands == hands and books and summary.chain == "intact"
