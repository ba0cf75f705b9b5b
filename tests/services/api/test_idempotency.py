"""The same Idempotency-Key: one effect and one answer, one after another, at once, and on two processes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

import pytest
import pytest_asyncio

from tests.conftest import Database
from tests.services.api.following import first_choice
from tests.services.api.nodes import Node, running_node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nodes(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[Node, Node]]:
    """Two nodes over one database; each has its own store, its own cache and its own connections."""
    home = tmp_path_factory.mktemp("home")
    with fresh_database() as database:
        async with (
            running_node(database, redis_url, home) as one,
            running_node(database, redis_url, home, parts=("api",)) as two,
        ):
            yield one, two


async def test_the_same_request_again_is_answered_alike_and_done_once(nodes: tuple[Node, Node]) -> None:
    till, key = nodes[0].as_("clara", "cashier"), secrets.token_hex(8)
    await till.did("/v1/accounts", {"player": "once", "currency": "RUB"})
    first = await till.post("/v1/accounts/once/RUB/deposits", {"amount": 70}, key)
    again = await nodes[1].as_("clara", "cashier").post("/v1/accounts/once/RUB/deposits", {"amount": 70}, key)
    assert first.status_code == again.status_code == 200
    assert first.content == again.content
    assert (await till.saw("/v1/accounts/once/RUB"))["balance"] == 70


async def test_the_same_key_for_other_content_is_422(nodes: tuple[Node, Node]) -> None:
    till, key = nodes[0].as_("clara", "cashier"), secrets.token_hex(8)
    await till.did("/v1/accounts", {"player": "other", "currency": "RUB"})
    await till.did("/v1/accounts/other/RUB/deposits", {"amount": 70}, key)
    for body in ({"amount": 71}, {"amount": 70, "reference": "x"}):
        for node in nodes:
            reused = await node.as_("clara", "cashier").post("/v1/accounts/other/RUB/deposits", body, key)
            assert (reused.status_code, reused.json()["code"]) == (422, "key_reused")
    withdrawn = await till.post("/v1/accounts/other/RUB/withdrawals", {"amount": 70}, key)
    assert withdrawn.json()["code"] == "key_reused"
    assert (await till.saw("/v1/accounts/other/RUB"))["balance"] == 70


async def test_another_callers_same_key_is_another_command(nodes: tuple[Node, Node]) -> None:
    one, other, key = nodes[0].as_("clara", "cashier"), nodes[0].as_("carlo", "cashier"), secrets.token_hex(8)
    await one.did("/v1/accounts", {"player": "two-tills", "currency": "RUB"})
    await one.did("/v1/accounts/two-tills/RUB/deposits", {"amount": 70}, key)
    await other.did("/v1/accounts/two-tills/RUB/deposits", {"amount": 70}, key)
    assert (await one.saw("/v1/accounts/two-tills/RUB"))["balance"] == 140


async def test_opening_a_table_twice_opens_one(nodes: tuple[Node, Node]) -> None:
    body, key = {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}}, secrets.token_hex(8)
    answers = await asyncio.gather(
        *(node.as_("olga", "operator").post("/v1/tables", body, key) for node in nodes for _ in range(4))
    )
    assert {a.status_code for a in answers} == {201}
    assert len({a.content for a in answers}) == 1


async def test_at_once_on_two_nodes_there_is_one_effect_and_one_answer(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}"
    await nodes[0].seat(table_id, "both-a", "both-b")

    async def turn() -> object:
        view = await nodes[0].as_("both-a").saw(path)
        return view if view["turn"] else None

    for _ in range(3):
        view = await until(turn)
        asked = next(s["player"] for s in view["seats"] if s["seat"] == view["turn"]["seat"])
        offers = (await nodes[0].as_(asked).saw(path))["you"]["legal_actions"]
        body, key = {"turn": view["turn"]["turn"], **first_choice(offers)}, secrets.token_hex(8)
        answers = await asyncio.gather(
            *(node.as_(asked).post(f"{path}/actions", body, key) for _ in range(4) for node in nodes)
        )
        assert {a.status_code for a in answers} == {200}, [a.text for a in answers]
        assert len({a.content for a in answers}) == 1


async def test_two_people_take_one_seat_on_two_nodes(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table()
    till = nodes[0].as_("clara", "cashier")
    for player in ("race-a", "race-b"):
        await till.did("/v1/accounts", {"player": player, "currency": "RUB"})
        await till.did(f"/v1/accounts/{player}/RUB/deposits", {"amount": 5_000})
    path, body = f"/v1/tables/{table_id}/seat", {"buy_in": 2_000, "seat": 0}
    answers = await asyncio.gather(nodes[0].as_("race-a").post(path, body), nodes[1].as_("race-b").post(path, body))
    assert sorted(a.status_code for a in answers) == [200, 409]
    assert next(a for a in answers if a.status_code == 409).json()["code"] == "seat_taken"
    balances = [(await till.saw(f"/v1/accounts/{p}/RUB"))["balance"] for p in ("race-a", "race-b")]
    assert sorted(balances) == [3_000, 5_000]


async def test_a_node_shows_what_the_other_one_did(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table()
    path = f"/v1/tables/{table_id}"
    assert (await nodes[1].anyone().saw(path))["seats"] == []
    await nodes[0].seat(table_id, "seen-a")
    assert [s["player"] for s in (await nodes[1].anyone().saw(path))["seats"]] == ["seen-a"]
    refused = await nodes[1].as_("seen-a").post(f"{path}/seat", {"buy_in": 2_000})
    assert refused.json()["code"] == "already_seated"
