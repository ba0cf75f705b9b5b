"""Signals over HTTP: to compliance without a seat, each with its definition and its hands; T12, R2."""

from __future__ import annotations

import csv
import io
import secrets
from typing import Any

import pytest

from projections.paging import cursor_of
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_t12_a_hand_voided_by_ops_is_a_signal_of_its_players(node: Node) -> None:
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, anna, boris)
    path = f"/v1/tables/{table_id}"

    async def running() -> Any:
        return (await node.anyone().saw(path))["turn"]

    await until(running)
    hand_id = (await node.anyone().saw(path))["hand"]["hand_id"]
    for person in ("oona", "otto"):
        await node.as_(person, "ops").did(f"{path}/void", {"reason": "the lamp fell"})
    rita = node.as_("rita", "compliance")

    async def shown() -> Any:
        answer = await rita.get("/v1/signals", player=anna)  # 503 until the projections are made
        return answer.is_success and answer.json()["signals"]

    (signal,) = await until(shown)
    assert (signal["kind"], signal["player"], signal["other"]) == ("voided", anna, None)
    assert (signal["times"], signal["by_ops"], signal["chances"], signal["hands"]) == (1, 1, 1, 1)
    assert "T12" in signal["definition"]
    assert [(each["hand_id"], each["table_id"]) for each in signal["rests_on"]] == [(hand_id, table_id)]
    both = await rita.saw("/v1/signals", kind="voided", limit=200)
    assert {anna, boris} <= {s["player"] for s in both["signals"]}
    assert (await rita.saw("/v1/signals", kind="clock"))["signals"] == []
    text = (await rita.get("/v1/signals", player=boris, format="csv")).text
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["kind"], row["player"], row["rests_on"]) == ("voided", boris, hand_id)
    assert (await rita.get("/v1/signals", kind="luck")).status_code == 422
    assert (await rita.get("/v1/signals", cursor="x")).status_code == 422
    for wrong in (("pair", 2**63, "a", "", "RUB"), ("pair", 1, "a\0", "", "RUB"), ("luck", 1, "a", "", "RUB")):
        assert (await rita.get("/v1/signals", cursor=cursor_of(*wrong))).status_code == 422
    last = cursor_of("voided", 1, anna, "", "RUB")
    assert anna not in {s["player"] for s in (await rita.saw("/v1/signals", cursor=last))["signals"]}
    seated = await node.as_(boris, "compliance").get("/v1/signals")
    assert (seated.status_code, seated.json()["code"]) == (409, "holds_seat")
