"""What keeps a route from coming into the app without a rule, or past the door; and the document's own examples."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema_rs
import pytest
from litestar import Request, get

from services import node as services_node
from services.api.answers import Health
from services.api.auth import RULE
from services.api.operation import Operation, described
from services.api.roles import ANYONE
from services.runtime import running
from tests.services.api.conforming import DOCUMENT
from tests.services.api.nodes import Node

pytestmark = pytest.mark.asyncio(loop_scope="module")
HEALTH = Operation(tag="service", summary="x", rule=ANYONE, answer=Health)


async def _past(request: Request[Any, Any, Any]) -> None:
    """A door that lets everybody in."""


@get("/undescribed")
async def undescribed() -> Health:
    return Health(status="ok")


@get("/page", include_in_schema=False)
async def page_without_a_rule() -> Health:
    return Health(status="ok")


@get("/past", opt=described(HEALTH), before_request=_past)
async def past_the_door() -> Health:
    return Health(status="ok")


@get("/ruled", include_in_schema=False, opt={RULE: ANYONE})
async def ruled_page() -> Health:
    return Health(status="ok")


@pytest.mark.parametrize("route", [undescribed, page_without_a_rule, past_the_door], ids=lambda r: r.handler_name)
async def test_a_route_without_a_rule_or_with_a_door_of_its_own_is_refused_at_the_start(node: Node, route: Any) -> None:
    with pytest.raises(AssertionError):
        services_node.Node(node.core, "127.0.0.1", 0, more=[route])


async def test_a_page_with_a_rule_comes_in_and_not_into_the_document(node: Node) -> None:
    async with running(node.core, ("api",), more=(ruled_page,)) as url, httpx.AsyncClient(base_url=url) as http:
        assert (await http.get("/ruled")).status_code == 200
        assert (await http.get("/ruled", headers={"Authorization": "Bearer x"})).status_code == 401
        assert "/ruled" not in (await http.get(DOCUMENT)).json()["paths"]


async def test_every_write_has_an_example_and_every_example_is_one(node: Node) -> None:
    document = (await node.http.get(DOCUMENT)).json()
    seen = 0
    for path, operations in document["paths"].items():
        for operation in operations.values():
            content = operation.get("requestBody", {"content": {}})["content"].get("application/json")
            if content is None:
                continue
            schema = {"components": document["components"], **content["schema"]}
            if operation["requestBody"]["required"]:
                assert "example" in content, path
                jsonschema_rs.Draft202012Validator(schema).validate(content["example"])
                seen += 1
    assert seen >= 12


async def test_every_problem_that_is_described_can_be_looked_up(node: Node) -> None:
    document = (await node.http.get(DOCUMENT)).json()
    schemas = document["components"]["schemas"]
    codes = {schema["allOf"][1]["properties"]["code"]["const"] for name, schema in schemas.items() if "allOf" in schema}
    assert len(codes) > 40
    for code in codes:
        kind = await node.anyone().saw(f"/problems/{code}")
        assert kind["type"] == f"/problems/{code}"
