"""Wrong, late, foreign and malformed requests at every door: a problem, and neither state nor money moved."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.services.api.following import first_choice
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

BIG = 2**50


def is_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem, which is whole."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert (body["status"], body["code"], body["type"]) == (status, code, f"/problems/{code}")
    assert body["title"]
    assert body["detail"]
    return body


WRONG_AMOUNTS = [0, -1, BIG + 1, 10**30, 1.0, 1.5, True, "100", None, [1], {}]


@pytest.mark.parametrize("amount", WRONG_AMOUNTS, ids=str)
async def test_amounts_are_whole_numbers_within_bounds(node: Node, amount: Any) -> None:
    table_id = await node.open_table()
    till, anna = node.as_("clara", "cashier"), node.as_("anna")
    for caller, path, field in (
        (till, "/v1/accounts/anna/RUB/deposits", "amount"),
        (till, "/v1/accounts/anna/RUB/withdrawals", "amount"),
        (anna, f"/v1/tables/{table_id}/seat", "buy_in"),
        (anna, f"/v1/tables/{table_id}/top-up", "amount"),
    ):
        body = is_problem(await caller.post(path, {field: amount}), 422, "invalid")
        assert f"$.{field}" in body["detail"]


BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("operator", "", {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}}),
    ("player", "/{table_id}/seat", {"buy_in": 2_000}),
    ("player", "/{table_id}/leave", {}),
    ("player", "/{table_id}/top-up", {"amount": 1}),
    ("player", "/{table_id}/sit-out", {}),
    ("player", "/{table_id}/return", {}),
    ("player", "/{table_id}/client-seed", {"client_seed": "00"}),
    ("player", "/{table_id}/actions", {"turn": 1, "do": "pass"}),
    ("ops", "/{table_id}/halt", {"reason": "a test"}),
    ("ops", "/{table_id}/resume", {"reason": "a test"}),
    ("ops", "/{table_id}/void", {"reason": "a test"}),
    ("operator", "/{table_id}/close", {"reason": "a test"}),
]


@pytest.mark.parametrize(("role", "path", "body"), BODIES, ids=[path or "/open" for _, path, _ in BODIES])
async def test_every_door_refuses_what_it_does_not_know(node: Node, role: str, path: str, body: dict[str, Any]) -> None:
    table_id = await node.open_table()
    caller, url = node.as_("anna", role), "/v1/tables" + path.format(table_id=table_id)
    before = await node.anyone().saw(f"/v1/tables/{table_id}")
    unknown = is_problem(await caller.post(url, {**body, "seed": 1}), 422, "invalid")
    assert "seed" in unknown["detail"]
    is_problem(await caller.post(f"{url}?dry_run=1", body), 422, "invalid")
    is_problem(await caller.post(url.replace(table_id, "x" * 36) if path else url, {**body, "": 1}), 422, "invalid")
    key = {**caller.headers, "Content-Type": "application/json"}
    content = json.dumps(body).encode()
    for given in ({}, {"Idempotency-Key": ""}, {"Idempotency-Key": "a b"}, {"Idempotency-Key": "x" * 129}):
        missing = is_problem(await node.http.post(url, content=content, headers={**key, **given}), 422, "invalid")
        assert "Idempotency-Key" in missing["detail"]
    key["Idempotency-Key"] = "bad-input"
    if body:
        name, value = next(iter(body.items()))
        twice = b"{" + f"{json.dumps(name)}:{json.dumps(value)},".encode() + content[1:]
        refused = is_problem(await node.http.post(url, content=twice, headers=key), 422, "invalid")
        assert f"{name}: stands in the body more than once" in refused["detail"]
    for wrong in (b"{", b"[]", b"null", b"\xff\xfe{}", b'{"a":\xc3\x28}', content + b"x", b'{"turn":NaN}'):
        is_problem(await node.http.post(url, content=wrong, headers=key), 422, "invalid")
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""):
        other = {**key, "Content-Type": media_type}
        is_problem(await node.http.post(url, content=content, headers=other), 415, "unsupported_media_type")
    is_problem(await node.http.post(url, content=b" " * 17_000, headers=key), 413, "too_large")
    assert await node.anyone().saw(f"/v1/tables/{table_id}") == before


async def test_a_body_of_ten_megabytes_is_refused_and_the_service_goes_on(node: Node) -> None:
    table_id = await node.open_table()
    headers = {**node.as_("anna").headers, "Idempotency-Key": "big", "Content-Type": "application/json"}
    body = b'{"buy_in": ' + b"1" * (10 * 1024 * 1024) + b"}"

    async def trickle() -> Any:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    is_problem(await node.http.post(f"/v1/tables/{table_id}/seat", content=body, headers=headers), 413, "too_large")
    try:
        response = await node.http.post(f"/v1/tables/{table_id}/seat", content=trickle(), headers=headers)
        is_problem(response, 413, "too_large")
    except httpx.WriteError:
        pass  # the connection was closed while we were still sending
    assert (await node.http.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"do": "pass"},
        {"turn": "1", "do": "pass"},
        {"turn": 1.0, "do": "pass"},
        {"turn": -1, "do": "pass"},
        {"turn": 2**60, "do": "pass"},
        {"turn": 1},
        {"turn": 1, "do": "PASS"},
        {"turn": 1, "do": "play"},
        {"turn": 1, "do": "play", "card": "1s"},
        {"turn": 1, "do": "play", "card": "As", "cards": []},
        {"turn": 1, "do": "play", "card": "As\n"},
        {"turn": 1, "do": "discard", "card": "As"},
        {"turn": 1, "do": "discard", "cards": "As"},
        {"turn": 1, "do": "discard", "cards": ["As"] * 53},
        {"turn": 1, "do": "pass", "cards": []},
        {"turn": 1, "do": "pass", "by": "clock"},
        {"turn": 1, "do": "pass", "seat": 0},
    ],
    ids=str,
)
async def test_h2_an_action_that_is_none_is_content(node: Node, body: dict[str, Any]) -> None:
    table_id = await node.open_table()
    is_problem(await node.as_("anna").post(f"/v1/tables/{table_id}/actions", body), 422, "invalid")


@pytest.mark.parametrize(
    "changes",
    [
        {"stake": -1},
        {"stake": 1.0},
        {"stake": 2**50},
        {"currency": "rub"},
        {"currency": "RUBL"},
        {"entry_limit": 99},
        {"max_seats": 1},
        {"max_seats": 6},
        {"commission_bps": 10_001},
        {"options": {}},
        {"options": {"game": "poker"}},
        {"options": {"game": "khrap", "deck": 36}},
        {"options": {"game": "khrap", "max_deals": 0}},
        {"options": {"game": "khrap", "max_trump_changes": 4}},
        {"turn_ms": 0},
        {"spectators": "yes"},
        {"spectator_delay_ms": 600_001},
        {"rules": 1},
    ],
    ids=str,
)
async def test_t1_settings_that_no_table_has(node: Node, changes: dict[str, Any]) -> None:
    body = {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}, **changes}
    is_problem(await node.as_("olga", "operator").post("/v1/tables", body), 422, "invalid")


async def test_a_late_foreign_and_illegal_action_is_refused_with_the_callers_own_choices(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "late-a", "late-b")
    path = f"/v1/tables/{table_id}"

    async def turn() -> Any:
        view = await node.as_("late-a").saw(path)
        return view if view["turn"] else None

    view = await until(turn)
    asked = next(s["player"] for s in view["seats"] if s["seat"] == view["turn"]["seat"])
    other = "late-b" if asked == "late-a" else "late-a"
    number = view["turn"]["turn"]
    mine = (await node.as_(asked).saw(path))["you"]["legal_actions"]

    stale = is_problem(
        await node.as_(asked).post(f"{path}/actions", {"turn": number + 1, "do": "pass"}), 409, "stale_turn"
    )
    assert (stale["turn"], stale["legal_actions"], stale["version"]) == (number, mine, view["version"])
    not_his = is_problem(
        await node.as_(other).post(f"{path}/actions", {"turn": number, "do": "pass"}), 409, "not_your_turn"
    )
    assert not_his["legal_actions"] == []
    word = is_problem(
        await node.as_(asked).post(f"{path}/actions", {"turn": number, "do": "whist"}), 409, "not_offered"
    )
    assert word["clause"].startswith("K")
    stranger = is_problem(
        await node.as_("late-c").post(f"{path}/actions", {"turn": number, "do": "pass"}), 409, "not_seated"
    )
    assert (stranger["turn"], stranger["version"]) == (None, None)
    assert (await node.as_(asked).saw(path))["version"] == view["version"]

    await node.as_(asked).did(f"{path}/actions", {"turn": number, **first_choice(mine)})
    again = await node.as_(asked).post(f"{path}/actions", {"turn": number, **first_choice(mine)})
    assert again.json()["code"] == "stale_turn"


@pytest.mark.parametrize("unseen", ["\n", "\x85", "\u2028", "\u202e", "\x00"])
async def test_a_reason_is_one_line_that_reads_as_it_is_written(node: Node, unseen: str) -> None:
    table_id = await node.open_table()
    told = await node.as_("olga", "ops").post(f"/v1/tables/{table_id}/halt", {"reason": f"ab{unseen}c"})
    assert is_problem(told, 422, "invalid")["detail"] == (
        "Expected `str` of one line, without control characters, with 3 that can be seen at least - at `$.reason`"
    )


async def test_a_path_with_an_empty_part_is_not_another_path(node: Node) -> None:
    is_problem(await node.anyone().get("/v1/tables//events"), 404, "not_found")


async def test_ops_under_a_players_name_see_nothing_of_his_hand(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "name-a", "name-b")
    path = f"/v1/tables/{table_id}"

    async def turn() -> Any:
        view = await node.as_("name-a").saw(path)
        return view if view["turn"] else None

    view = await until(turn)
    asked = next(s["player"] for s in view["seats"] if s["seat"] == view["turn"]["seat"])
    refused = await node.as_(asked, "ops").post(f"{path}/resume", {"reason": "a test"})
    assert is_problem(refused, 409, "not_offered")["legal_actions"] == []
    assert (await node.as_(asked, "ops").saw(path))["you"] is None


async def test_money_is_refused_by_its_clause(node: Node) -> None:
    table_id = await node.open_table()
    await node.seat(table_id, "rich")
    till, poor = node.as_("clara", "cashier"), node.as_("poor")
    path = f"/v1/tables/{table_id}"
    is_problem(await poor.post(f"{path}/seat", {"buy_in": 2_000}), 409, "no_account")
    await till.did("/v1/accounts", {"player": "poor", "currency": "RUB"})
    is_problem(await till.post("/v1/accounts", {"player": "poor", "currency": "RUB"}), 409, "account_exists")
    is_problem(await poor.post(f"{path}/seat", {"buy_in": 1_999}), 409, "below_entry_limit")
    is_problem(await poor.post(f"{path}/seat", {"buy_in": 2_000}), 409, "insufficient_funds")
    is_problem(await poor.post(f"{path}/seat", {"buy_in": 2_000, "seat": 0}), 409, "seat_taken")
    is_problem(await poor.post(f"{path}/seat", {"buy_in": 2_000, "seat": 5}), 409, "table_full")
    is_problem(await till.post("/v1/accounts/poor/RUB/withdrawals", {"amount": 1}), 409, "insufficient_funds")
    is_problem(await till.post("/v1/accounts/nobody/RUB/deposits", {"amount": 1}), 404, "not_found")
    is_problem(await node.as_("rich").post(f"{path}/seat", {"buy_in": 2_000}), 409, "already_seated")
    assert (await till.saw("/v1/accounts/poor/RUB"))["balance"] == 0


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/nothing", 404, "not_found"),
        ("/nothing", 404, "not_found"),
        ("/v1/tables/018f0000-0000-7000-8000-000000000001", 404, "not_found"),
        ("/v1/tables/018f0000-0000-4000-8000-000000000001", 422, "invalid"),
        ("/v1/tables/%F0%9F%82%A1", 422, "invalid"),
        ("/v1/tables/018f0000-0000-7000-8000-000000000001%0A", 422, "invalid"),
        ("/v1/tables?limit=0", 422, "invalid"),
        ("/v1/tables?limit=201", 422, "invalid"),
        ("/v1/tables?limit=ten", 422, "invalid"),
        ("/v1/tables?limit=5&limit=6", 422, "invalid"),
        ("/v1/tables?game=poker", 422, "invalid"),
        ("/v1/tables?cursor=abc", 422, "invalid"),
        ("/v1/tables?cursor=WyJ4Il0", 422, "invalid"),
        ("/v1/tables?nonsense=1", 422, "invalid"),
        ("/v1/tables/018f0000-0000-7000-8000-000000000001/events?after=-1", 422, "invalid"),
        ("/v1/tables/018f0000-0000-7000-8000-000000000001/events", 404, "not_found"),
        ("/v1/accounts/Anna/RUB", 422, "invalid"),
        ("/v1/accounts/clara/RUB/statement?cursor=WzEsMiwzLDQsNV0&limit=1.5", 422, "invalid"),
        ("/problems/nothing", 404, "not_found"),
    ],
)
async def test_a_wrong_address_or_query(node: Node, path: str, status: int, code: str) -> None:
    is_problem(await node.as_("clara", "cashier").get(path), status, code)


async def test_a_wrong_last_event_id(node: Node) -> None:
    table_id = await node.open_table()
    for value in ("x", "-1", "1.0", "9" * 40, "²"):
        headers = {"Last-Event-ID": value.encode()}
        response = await node.http.get(f"/v1/tables/{table_id}/events", headers=headers)  # type: ignore[arg-type]
        is_problem(response, 422, "invalid")


async def test_a_wrong_method_names_the_right_ones(node: Node) -> None:
    response = await node.http.put("/v1/tables", headers=node.as_("olga", "operator").headers)
    is_problem(response, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(response.headers["allow"].split(", "))


async def test_two_tokens_are_no_token(node: Node) -> None:
    """A proxy and we might each believe another one."""
    tokens = [("Authorization", f"Bearer {node.token(name, 'player')}") for name in ("anna", "boris")]
    is_problem(await node.http.get("/v1/hands", headers=tokens), 401, "not_authenticated")
    assert (await node.http.get("/v1/hands", headers=tokens[:1])).status_code != 401
