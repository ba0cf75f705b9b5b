"""The check that all answers pass can fail: on a status, a field and a code that the document does not have."""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest

from tests.services.api.conforming import DOCUMENT, Conforming, NotDescribed
from tests.services.api.nodes import Node

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLE = "/v1/tables/{table_id}"


def _without_404(document: dict[str, Any]) -> None:
    del document["paths"][TABLE]["get"]["responses"]["404"]


def _other_code(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["NotFoundProblem"]["allOf"][1]["properties"]["code"]["const"] = "gone"


def _other_field(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["Problem"]["required"].append("instance")


@pytest.mark.parametrize("change", [_without_404, _other_code, _other_field])
async def test_a_difference_is_found(node: Node, change: Any) -> None:
    document = copy.deepcopy((await node.http.get(DOCUMENT)).json())
    url = node.url + TABLE.format(table_id="018f0000-0000-7000-8000-000000000001")
    async with httpx.AsyncClient(event_hooks={"response": [Conforming(document)]}) as http:
        assert (await http.get(url)).status_code == 404
    change(document)
    async with httpx.AsyncClient(event_hooks={"response": [Conforming(document)]}) as http:
        with pytest.raises(NotDescribed):
            await http.get(url)
