"""Hands worth looking at, played over the API by what it offers.

A wished deal is had as S2 says that it can: a seated player who knows the server's seed gives his own one last. The
test knows it, since it has the sealing key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from domain.commands import StartHand
from domain.decide import decide
from domain.evolve import evolve
from domain.hand import Hand, asked
from domain.legal import offers
from domain.table import Table, start_due_ms
from tests.services.api.nodes import Node, until

Words = Mapping[str, tuple[str, ...]]
"""What each player says by preference; `*` is everybody else. Where nothing of it is offered he passes."""
TRIES = 5_000


class Scene(Struct, frozen=True):
    """A hand that is over, and in the books."""

    table_id: str
    hand_id: str
    players: tuple[str, ...]


async def play(
    node: Node,
    players: tuple[str, ...],
    words: Words,
    *,
    wish: Callable[[Hand], bool] | None = None,
    void_after: str | None = None,
    buy_in: int = 50_000,
    **settings: Any,
) -> Scene:
    """Open a table with these settings, seat the players, wish for a deal, play a hand to its end."""
    table_id = await node.open_table(turn_ms=300_000, pause_ms=4_000 if wish else 1_500, **settings)
    await node.seat(table_id, *players, buy_in=buy_in)
    if wish is not None:
        await _wished(node, table_id, players[0], wish)
    hand_id = await _played(node, table_id, words, void_after)

    async def booked() -> Any:
        seen = await node.as_(players[0]).get(f"/v1/hands/{hand_id}/replay")
        return seen.is_success and seen.json()["books"]["state"] == "holds" and seen.json()["hand"]["disclosed_to"]

    await until(booked, 30)
    return Scene(table_id, hand_id, players)


async def _wished(node: Node, table_id: str, player: str, wish: Callable[[Hand], bool]) -> None:
    found = await node.core.play.table(table_id)
    assert found is not None
    seed = next(s for s in (f"{i:08x}" for i in range(TRIES)) if wish(_dealt(found[1], player, s)))
    await node.as_(player).did(f"/v1/tables/{table_id}/client-seed", {"client_seed": seed})


def _dealt(table: Table, player: str, seed: str) -> Hand:
    """The hand as it would begin with this seed."""
    assert table.next_hand is not None
    with_seed = replace(table, next_hand=replace(table.next_hand, client_seeds=((player, seed),)))
    due = start_due_ms(with_seed)
    assert due is not None
    decided = decide(with_seed, StartHand(at_ms=due))
    assert isinstance(decided, tuple), decided
    for event in decided:
        with_seed = evolve(with_seed, event, due)
    assert with_seed.hand is not None
    return with_seed.hand


def helicopter(hand: Hand) -> bool:
    """K5: who is asked first may fly."""
    seat = asked(hand)
    assert seat is not None
    return any(o.do == "helicopter" for o in offers(hand, seat))


async def _played(node: Node, table_id: str, words: Words, void_after: str | None) -> str:
    path = f"/v1/tables/{table_id}"

    async def running() -> Any:
        return (await node.anyone().saw(path))["turn"]

    await until(running)
    view = await node.anyone().saw(path)
    hand_id = str(view["hand"]["hand_id"])
    async with asyncio.timeout(90):
        while True:
            view = await node.anyone().saw(path)
            if view["hand"]["hand_id"] != hand_id or view["hand"]["result"] is not None:
                return hand_id
            if view["turn"] is None:
                continue
            players = {s["seat"]: s["player"] for s in view["seats"]}
            player = players[view["turn"]["seat"]]
            asked_ = node.as_(player)
            mine = (await asked_.saw(path))["you"]["legal_actions"]
            if not mine:
                continue
            action = _chosen(mine, words.get(player, words.get("*", ())))
            done = await asked_.post(f"{path}/actions", {"turn": view["turn"]["turn"], **action})
            assert done.is_success or done.json()["code"] in ("stale_turn", "hand_over"), done.text
            if void_after is not None and action["do"] == void_after:
                for person in ("oona", "otto"):
                    await node.as_(person, "ops").did(f"{path}/void", {"reason": "the lamp fell on the table"})


def _chosen(offered: list[dict[str, Any]], liked: tuple[str, ...]) -> dict[str, Any]:
    words = {o["do"]: o for o in offered}
    do = next(w for w in (*liked, "play", "discard", "draw", "pass", "decline") if w in words)
    offer = words[do]
    if do == "play":
        return {"do": do, "card": offer["cards"][0]}
    if do in ("discard", "draw"):
        if "cards" not in offer:  # F2: they lie face down
            return {"do": "look"}
        return {"do": do, "cards": offer["cards"][: offer.get("least", 0)]}
    return {"do": do}


async def pyatok_with_fines(node: Node, *players: str, **settings: Any) -> Scene:
    """Khrap: four in play owe five tricks of four, so somebody is fined (N)."""
    first, second, third, last = players
    words = {first: ("khrap", "help"), second: ("khrap", "help"), third: ("khrap", "help"), last: ("pyatok",)}
    return await play(node, (first, second, third, last), words, **settings)


async def flown(node: Node, *players: str, **settings: Any) -> Scene:
    """K5: a helicopter."""
    return await play(node, players, {"*": ("helicopter",)}, wish=helicopter, **settings)


async def blind(node: Node, *players: str, **settings: Any) -> Scene:
    """F3, F7: a blind frap, the others whist, one cuts in."""
    words = {"*": ("frap_blind", "whist"), players[-1]: ("cut", "frap_blind")}
    return await play(node, players, words, options={"game": "frap"}, **settings)


async def voided(node: Node, *players: str, **settings: Any) -> Scene:
    """T12, H6: two of ops void the hand after the declaration."""
    return await play(node, players, {"*": ("khrap", "help")}, void_after="khrap", **settings)


async def full(node: Node, *players: str, **settings: Any) -> Scene:
    """F1: a table of twelve, all in play."""
    return await play(node, players, {"*": ("frap", "whist")}, options={"game": "frap"}, **settings)
