"""Every route of the document with every role: what DESIGN's table of roles says, and nothing else.

The table below is written by hand from DESIGN, not taken from the code: a new route that is not in it fails here.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import httpx
import pytest

from tests.services.api.nodes import ROLES, Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANYONE = ("nobody", *ROLES)
MAY: dict[tuple[str, str], tuple[str, ...]] = {
    ("get", "/v1/tables"): ANYONE,
    ("get", "/v1/tables/events"): ANYONE,
    ("get", "/v1/tables/{table_id}"): ANYONE,
    ("get", "/v1/tables/{table_id}/events"): ANYONE,
    ("post", "/v1/tables"): ("operator",),
    ("post", "/v1/tables/{table_id}/close"): ("operator",),
    ("post", "/v1/tables/{table_id}/halt"): ("ops",),
    ("post", "/v1/tables/{table_id}/resume"): ("ops",),
    ("post", "/v1/tables/{table_id}/void"): ("ops",),
    ("post", "/v1/tables/{table_id}/seat"): ("player",),
    ("post", "/v1/tables/{table_id}/leave"): ("player",),
    ("post", "/v1/tables/{table_id}/top-up"): ("player",),
    ("post", "/v1/tables/{table_id}/sit-out"): ("player",),
    ("post", "/v1/tables/{table_id}/return"): ("player",),
    ("post", "/v1/tables/{table_id}/client-seed"): ("player",),
    ("post", "/v1/tables/{table_id}/actions"): ("player",),
    ("post", "/v1/accounts"): ("cashier",),
    ("post", "/v1/accounts/{player}/{currency}/deposits"): ("cashier",),
    ("post", "/v1/accounts/{player}/{currency}/withdrawals"): ("cashier",),
    ("get", "/v1/accounts/{player}/{currency}"): ("player", "cashier"),
    ("get", "/v1/accounts/{player}/{currency}/statement"): ("player", "cashier"),
    ("get", "/v1/hands"): ("player", "compliance"),
    ("get", "/v1/hands/{hand_id}"): ("player", "compliance"),
    ("get", "/v1/hands/{hand_id}/file"): ("player", "compliance"),
    ("get", "/v1/hands/{hand_id}/replay"): ("player", "compliance"),
    ("get", "/v1/session"): ANYONE,
    ("get", "/v1/hands/{hand_id}/looks"): ("player",),
    ("post", "/v1/disputes"): ("player", "compliance"),
    ("get", "/v1/disputes"): ("player", "compliance"),
    ("get", "/v1/disputes/{dispute_id}"): ("player", "compliance"),
    ("post", "/v1/disputes/{dispute_id}/notes"): ("player", "compliance"),
    ("post", "/v1/disputes/{dispute_id}/withdraw"): ("player",),
    ("post", "/v1/disputes/{dispute_id}/verdict"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/compensations"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/corrections"): ("compliance",),
    ("get", "/v1/disputes/{dispute_id}/correction"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/proposals/{proposal}/approve"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/proposals/{proposal}/drop"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/close"): ("compliance",),
    ("post", "/v1/disputes/{dispute_id}/erase"): ("compliance",),
    ("get", "/v1/audit/access"): ("operator",),
    ("get", "/v1/reports/commission"): ("operator", "compliance"),
    ("get", "/v1/reports/fines"): ("operator", "compliance"),
    ("get", "/v1/reports/banks"): ("operator", "compliance"),
    ("get", "/v1/reports/voids"): ("operator", "compliance"),
    ("get", "/v1/reports/statement"): ("operator", "compliance"),
    ("get", "/v1/signals"): ("compliance",),
    ("get", "/v1/hands/{hand_id}/bundle"): ("compliance",),
    ("get", "/v1/audit/key"): ANYONE,
    ("get", "/v1/audit/checkpoints"): ANYONE,
    ("get", "/v1/audit/checkpoints/{number}"): ANYONE,
    ("get", "/v1/audit/checkpoints/{number}/consistency"): ANYONE,
    ("get", "/v1/audit/parts/{part}/inclusion"): ANYONE,
    ("get", "/v1/audit/parts/{part}/consistency"): ANYONE,
    ("post", "/v1/session"): ANYONE,
    ("delete", "/v1/session"): ANYONE,
    ("get", "/healthz"): ANYONE,
    ("get", "/readyz"): ANYONE,
    ("get", "/metrics"): ("ops",),
    ("get", "/v1/ops/status"): ("ops",),
    ("get", "/v1/ops/tables/{table_id}"): ("ops",),
    ("get", "/schema/openapi.json"): ANYONE,
    ("get", "/problems/{code}"): ANYONE,
}
METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")


def _operations(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(method, path) for path, methods in document["paths"].items() for method in METHODS if method in methods]


async def test_every_route_has_its_rule_and_every_rule_its_route(node: Node) -> None:
    document = (await node.http.get("/schema/openapi.json")).json()
    assert set(_operations(document)) == set(MAY)
    for method, path in _operations(document):
        written = document["paths"][path][method]["x-roles"]
        assert set(written) - {"anyone"} == set(MAY[method, path]) - {"nobody"}, path
        assert ("anyone" in written) == ("nobody" in MAY[method, path]), path


@pytest.mark.parametrize("role", ANYONE)
async def test_a_role_may_what_the_table_says_and_no_more(node: Node, role: str) -> None:
    document = (await node.http.get("/schema/openapi.json")).json()
    table_id = await node.open_table()
    headers = {} if role == "nobody" else {"Authorization": f"Bearer {node.token('somebody', role)}"}
    for method, path in _operations(document):
        status = await _ask(node, method, path, headers, table_id)
        if role in MAY[method, path]:
            # He comes past the door; what is behind it may be missing, or his to be refused.
            assert status not in (401, 405), (method, path)
            assert status != 403 or path.startswith("/v1/accounts/") or path == "/v1/session", (method, path)
        else:
            assert status == (401 if role == "nobody" else 403), (method, path)


async def _ask(node: Node, method: str, path: str, headers: dict[str, str], table_id: str) -> int:
    ids = dict.fromkeys(("table_id", "hand_id", "dispute_id"), table_id)
    url = path.format(**ids, proposal=1, part=7, number=1, player="anna", currency="RUB", code="stale_turn")
    headers = {**headers, "Idempotency-Key": secrets.token_hex(8)}
    async with asyncio.timeout(10), node.http.stream(method.upper(), url, headers=headers) as response:
        return response.status_code


async def test_a_token_that_is_not_taken_is_401_even_where_anyone_may(node: Node) -> None:
    for value in (
        "Bearer abc",
        "Basic YTpi",
        "Bearer",
        f"Token {node.token('anna', 'player')}",
        "Bearer " + "x" * 9_000,
    ):
        response = await node.http.get("/v1/tables", headers={"Authorization": value})
        assert response.status_code == 401, value
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.headers["content-type"] == "application/problem+json"


async def test_a_token_in_a_query_is_no_token(node: Node) -> None:
    token = node.token("anna", "player")
    for name in ("token", "access_token", "authorization"):
        response = await node.http.get("/v1/hands", params={name: token})
        assert response.status_code == 401
        assert token not in response.text


async def test_a_player_sees_his_own_account_alone(node: Node) -> None:
    till = node.as_("clara", "cashier")
    await till.did("/v1/accounts", {"player": "own-anna", "currency": "RUB"})
    await till.did("/v1/accounts/own-anna/RUB/deposits", {"amount": 5})
    assert (await node.as_("own-anna").saw("/v1/accounts/own-anna/RUB"))["balance"] == 5
    assert (await till.saw("/v1/accounts/own-anna/RUB"))["balance"] == 5
    for what in ("", "/statement"):
        other = await node.as_("boris").get(f"/v1/accounts/own-anna/RUB{what}")
        assert (other.status_code, other.json()["code"]) == (403, "not_allowed")


async def test_a_player_lists_his_own_hands_alone(node: Node) -> None:
    assert (await node.as_("anna").get("/v1/hands", player="boris")).status_code == 403
    assert (await node.as_("anna").get("/v1/hands", player="anna")).status_code == 200
    assert (await node.as_("zoe", "compliance").get("/v1/hands")).status_code == 200


async def test_t12_two_persons_of_ops_void_a_running_hand(node: Node) -> None:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, "void-a", "void-b")
    path = f"/v1/tables/{table_id}"

    async def turn() -> Any:
        return (await node.as_("void-a").saw(path))["turn"]

    await until(turn)
    first, second = node.as_("oona", "ops"), node.as_("otto", "ops")
    proposed = await first.did(f"{path}/void", {"reason": "the lamp fell on the table"})
    assert [e["type"] for e in proposed["events"]] == ["void_proposed"]
    assert "proposer" not in proposed["events"][0]
    again = await first.post(f"{path}/void", {"reason": "the lamp fell on the table"})
    assert (again.status_code, again.json()["code"]) == (409, "two_persons")
    voided = await second.did(f"{path}/void", {"reason": "so it did"})
    assert voided["events"][0]["type"] == "hand_voided"
    assert voided["events"][0]["reason"] == "the lamp fell on the table"


async def test_a_client_that_is_not_a_browser_needs_no_origin(node: Node) -> None:
    response = await httpx.AsyncClient(base_url=node.url).get("/healthz")
    assert response.json() == {"status": "ok", "missing": []}
