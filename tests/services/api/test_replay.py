"""S6, H7: a hand's replay over HTTP: all of it for compliance, with a reason, his own part for a player, else none."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from infra.audit import Checkpoints
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
CARD = re.compile(r'"([2-9TJQKA][shdc])"')


async def over(node: Node, *players: str, **settings: Any) -> str:
    """The id of a hand that was played, and that the projections have."""
    table_id = await node.open_table(**settings)
    await node.seat(table_id, *players)
    hand_id = (await play_hand(node, table_id, *players))["hand_id"]

    async def there() -> Any:
        replayed = await node.as_(players[0]).get(f"/v1/hands/{hand_id}/replay")
        return replayed.is_success and replayed.json()["books"]["state"] == "holds"

    await until(there)
    return str(hand_id)


async def test_compliance_sees_every_card_with_a_reason_that_is_recorded(node: Node) -> None:
    hand_id = await over(node, "re-anna", "re-boris", seed_disclosure="compliance_only")
    carla, path = node.as_("carla", "compliance"), f"/v1/hands/{hand_id}/replay"
    refused = await carla.get(path)
    assert (refused.status_code, refused.json()["detail"]) == (422, "reason: say why; it is recorded")
    seen = await carla.saw(path, reason="asked for by re-boris")
    assert (seen["seat"], seen["open"]) == (None, True)
    assert [seen[each]["state"] for each in ("books", "rules", "chain", "shuffle")] == ["holds"] * 4
    dealt = next(s for s in seen["steps"] if s["event"]["type"] == "cards_dealt")
    assert len([c for h in dealt["held"] for c in h["cards"]]) + len(dealt["stock"]) == 36
    assert seen["working"]["differences"] == []
    stream = await node.core.store.read_stream("audit-access")
    looks = [node.core.codec.decode(each) for each in stream]
    assert [(e.person, e.what, e.reason) for e in looks if e.hand_id == hand_id] == [  # type: ignore[attr-defined]
        ("carla", "view", "asked for by re-boris")
    ]


async def test_a_hand_is_sealed_by_a_checkpoint_and_then_proved_in_its_tree(node: Node) -> None:
    hand_id = await over(node, "se-anna", "se-boris")
    path = f"/v1/hands/{hand_id}/replay"
    core = node.core
    async with Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing) as checkpoints:
        await checkpoints.seal(core.clock.now_ms())
        sealed = await checkpoints.latest()
    assert sealed is not None
    seen = (await node.as_("se-anna").saw(path))["checkpoint"]
    assert (seen["state"], seen["number"], seen["hash"]) == ("holds", sealed.number, sealed.hash.hex())
    assert seen["pos"] <= seen["size"] == sealed.size_of(seen["part"])


async def test_steps_are_the_recorded_events_with_their_hashes_and_the_entries_of_the_books(node: Node) -> None:
    hand_id = await over(node, "st-anna", "st-boris")
    seen = await node.as_("st-anna").saw(f"/v1/hands/{hand_id}/replay")
    row, steps, chain = seen["hand"], seen["steps"], seen["chain"]
    stored = await node.core.store.read_stream(chain["stream"], row["first_seq"] - 2)
    assert chain["before"] == stored[0].hash.hex()
    assert [(s["seq"], s["hash"]) for s in steps] == [(e.seq, e.hash.hex()) for e in stored[1 : len(steps) + 1]]
    assert (steps[0]["event"]["type"], steps[-1]["event"]["type"]) == ("hand_started", "hand_settled")
    assert (steps[0]["seq"], steps[-1]["seq"]) == (row["first_seq"], row["last_seq"])
    moved: dict[str, int] = {}
    for entry in (e for s in steps for e in s["entries"]):
        moved[entry["debit"]] = moved.get(entry["debit"], 0) - entry["amount"]
        moved[entry["credit"]] = moved.get(entry["credit"], 0) + entry["amount"]
    for player in row["players"]:
        change = player["purse_after"] - player["purse_before"]
        assert moved.get(f"purse:{row['table_id']}:{player['player']}", 0) == change
    assert steps[-1]["hand"]["bank"] == row["carried_bank"]


async def test_a_player_sees_what_he_saw_where_the_seed_is_for_compliance_alone(node: Node) -> None:
    hand_id = await over(node, "own-anna", "own-boris", seed_disclosure="compliance_only")
    path = f"/v1/hands/{hand_id}"
    whole = await node.as_("carla", "compliance").saw(f"{path}/replay", reason="a test")
    own = {p["player"]: p["seat"] for p in whole["hand"]["players"]}
    for player, seat in own.items():
        asked = node.as_(player)
        seen = await asked.saw(f"{path}/replay")
        assert (seen["seat"], seen["open"]) == (seat, False)
        assert seen == await asked.saw(f"{path}/replay", seat=seat)
        assert seen["shuffle"]["server_seed"] is None
        assert [seen["shuffle"]["state"], seen["rules"]["state"]] == ["not_checked", "holds"]
        file = (await asked.saw(f"{path}/file")) | {"seats": []}
        shown = set(CARD.findall(msgspec.json.encode(seen).decode()))
        assert shown <= set(CARD.findall(msgspec.json.encode(file).decode()))
        assert all(s["stock"] is None and {h["seat"] for h in s["held"]} <= {seat} for s in seen["steps"])
        other = await asked.get(f"{path}/replay", seat=1 - seat)
        assert (other.status_code, other.json()["code"]) == (403, "not_allowed")
        with_reason = await asked.get(f"{path}/replay", reason="mine")
        assert with_reason.status_code == 422
    seen = await node.as_("carla", "compliance").saw(f"{path}/replay", reason="a test", seat=0)
    assert (seen["seat"], seen["open"]) == (0, True)
    assert all({h["seat"] for h in s["held"]} <= {0} for s in seen["steps"])
    nobody = await node.as_("carla", "compliance").get(f"{path}/replay", reason="a test", seat=7)
    assert (nobody.status_code, nobody.json()["detail"]) == (422, "seat: 7 was not dealt in")


async def test_a_hand_of_others_or_one_that_runs_is_not_there(node: Node) -> None:
    hand_id = await over(node, "fo-anna", "fo-boris")
    foreign = await node.as_("zoe").get(f"/v1/hands/{hand_id}/replay")
    assert (foreign.status_code, foreign.json()["code"]) == (404, "not_found")
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "ru-anna", "ru-boris")

    async def running() -> Any:
        return (await node.as_("ru-anna").saw(f"/v1/tables/{table_id}"))["hand"]

    runs = (await until(running))["hand_id"]
    for caller, query in ((node.as_("ru-anna"), {}), (node.as_("carla", "compliance"), {"reason": "too early"})):
        refused = await caller.get(f"/v1/hands/{runs}/replay", **query)
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
