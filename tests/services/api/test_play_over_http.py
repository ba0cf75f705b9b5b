"""A hand over HTTP: opened, sat down to, played to its end, followed over a drop, read back as a file."""

from __future__ import annotations

import pytest

from domain.handfile import check, parse
from infra.codec import Codec
from infra.meta import decode_meta
from tests.services.api.following import first_choice, following, is_event, play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_hand_from_the_opening_to_the_file(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "anna", "boris", account=100_000)
    settled = await play_hand(node, table_id, "anna", "boris")
    assert settled["result"]["ending"] in ("played", "four_aces", "uncontested")

    hand_id = settled["hand_id"]
    anna, hand = node.as_("anna"), f"/v1/hands/{hand_id}"
    shown = (await until(lambda: _there(node, hand))).json()
    assert shown["table_id"] == table_id
    assert {p["player"] for p in shown["players"]} == {"anna", "boris"}
    file = await anna.get(f"{hand}/file")
    assert file.json() == shown["file"]
    # S6: the table discloses the seed after the hand, so whoever was dealt in can check the shuffle too.
    assert "view" not in shown["file"]
    assert check(parse(file.content)).holds
    listed = await anna.saw("/v1/hands")
    assert hand_id in [h["hand_id"] for h in listed["hands"]]


async def _there(node: Node, path: str) -> object:
    response = await node.as_("anna").get(path)
    return response if response.status_code == 200 else None


async def test_s6_h7_without_disclosure_a_player_gets_the_file_of_his_own_seat(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000, seed_disclosure="compliance_only")
    await node.seat(table_id, "anna", "boris")
    settled = await play_hand(node, table_id, "anna", "boris")
    hand = f"/v1/hands/{settled['hand_id']}"
    await until(lambda: _there(node, hand))
    file = await node.as_("anna").saw(f"{hand}/file")
    assert file["view"] == 0
    assert None in file["deals"][0]
    assert file["shuffle"]["server_seed"] is None

    assert (await node.as_("carla").get(hand)).status_code == 404
    refused = await node.as_("zoe", "compliance").get(hand)
    assert (refused.status_code, refused.json()["detail"]) == (422, "reason: say why; it is recorded")
    whole = await node.as_("zoe", "compliance").saw(f"{hand}/file", reason="a complaint of boris")
    assert None not in whole["deals"][0]
    assert whole["shuffle"]["server_seed"] is not None
    codec: Codec = node.core.codec
    last = (await node.core.store.read_stream("audit-access"))[-1]
    assert codec.decode(last).reason == "a complaint of boris"  # type: ignore[attr-defined]
    assert decode_meta(last.meta).subject == "zoe"


async def test_a_running_hand_is_nobodys(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "anna", "boris")
    anna = node.as_("anna")
    path = f"/v1/tables/{table_id}"
    view = await until(lambda: _with_turn(node, path))
    hand = f"/v1/hands/{view['hand']['hand_id']}"
    assert (await anna.get(hand)).status_code == 404
    assert (await node.as_("zoe", "compliance").get(hand, reason="curious")).status_code == 404
    assert view["hand"]["hand_id"] not in (await node.as_("zoe", "compliance").get("/v1/hands", table_id=table_id)).text


async def _with_turn(node: Node, path: str) -> object:
    view = await node.as_("anna").saw(path)
    return view if view["turn"] else None


async def test_a_client_that_drops_and_resumes_misses_nothing_and_gets_nothing_twice(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}"
    await node.seat(table_id, "anna")
    anna = node.as_("anna")
    numbers: list[int] = []
    async with following(anna, f"{path}/events") as stream:
        snapshot = await stream.next()
        assert snapshot is not None
        assert (snapshot.event, snapshot.number) == ("snapshot", snapshot.data["version"])
        numbers.append(snapshot.data["version"])
        await node.seat(table_id, "boris")
        seen = await stream.until(lambda m: m.data.get("turn") is not None)
        numbers += [m.number for m in seen if m.number is not None]
    await play_hand(node, table_id, "anna", "boris")  # while nobody listens
    async with following(anna, f"{path}/events", last=numbers[-1]) as stream:
        seen = await stream.until(is_event("hand_committed"))
        numbers += [m.number for m in seen if m.number is not None]
        assert seen[0].event == "event"
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    async with following(anna, f"{path}/events", after=numbers[2]) as stream:
        again = await stream.until(is_event("hand_committed"))
    assert [m.number for m in again] == list(range(numbers[2] + 1, numbers[-1] + 1))


async def test_own_cards_go_to_their_owner_alone_and_each_audience_gets_the_same_bytes_again(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}"
    await node.seat(table_id, "anna", "boris")
    await play_hand(node, table_id, "anna", "boris")
    dealt: dict[str, dict[str, object]] = {}
    for name, caller in {"anna": node.as_("anna"), "boris": node.as_("boris"), "nobody": node.anyone()}.items():
        async with following(caller, f"{path}/events", after=0) as once:
            messages = await once.until(is_event("hand_settled"))
        async with following(caller, f"{path}/events", after=0) as again:
            await again.until(is_event("hand_settled"))
        assert once.raw == again.raw
        dealt[name] = next(m.data for m in messages if is_event("cards_dealt")(m))
        if name == "nobody":
            assert all("cards" not in m.data and "legal_actions" not in m.data for m in messages)
    assert len(set(dealt["anna"]["cards"]) | set(dealt["boris"]["cards"])) == 8  # type: ignore[call-overload]
    assert "cards" not in dealt["nobody"]


async def test_a_stream_says_whose_turn_it_is_and_what_he_may_do(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}"
    await node.seat(table_id, "anna", "boris")
    anna = node.as_("anna")
    me = (await anna.saw(path))["you"]["seat"]
    async with following(anna, f"{path}/events", after=0) as stream:
        done = 0
        while done < 3:
            message = await stream.next()
            assert message is not None
            turn = message.data.get("turn")
            if turn is None:
                continue
            if turn["seat"] == me:
                action = first_choice(message.data["legal_actions"])
                await anna.did(f"{path}/actions", {"turn": turn["turn"], **action})
                done += 1
            else:
                assert message.data["legal_actions"] == []
                other = node.as_("boris")
                own = (await other.saw(path))["you"]["legal_actions"]
                await other.did(f"{path}/actions", {"turn": turn["turn"], **first_choice(own)})
