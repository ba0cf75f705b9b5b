"""Deposits that are past 2^63 in all: what ops look at goes on to be told, in every currency (T2, N)."""

from __future__ import annotations

from typing import Any

import pytest

from domain.money import MAX_AMOUNT
from services.watch import BOOKS_FRESH_S
from tests.projections.rich import deposited, in_one_part
from tests.projections.world import World
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_status_and_the_metrics_of_books_past_the_largest_amount(node: Node) -> None:
    # One deposit over HTTP is at most 2^50; a log may hold the larger ones that N allows.
    world = World(node.core.store)
    await world.append(*map(deposited, in_one_part(node.core.store.parts, 3)), deposited("poor", 7, "XTS"))
    ops = node.as_("oona", "ops")

    async def told() -> Any:
        status = await ops.saw("/v1/ops/status")
        cash = {t["currency"]: t["balance"] for b in status["books"] or () for t in b["kinds"] if t["kind"] == "cash"}
        return status if cash == {"RUB": -3 * MAX_AMOUNT, "XTS": -7} else None

    status = await until(told, within_s=BOOKS_FRESH_S + 20)
    assert {books["currency"]: books["off"] for books in status["books"]} == {"RUB": 0, "XTS": 0}
    assert status["parked"] == []
    metrics = await ops.get("/metrics")
    assert metrics.status_code == 200
    assert 'khrap_books_off_minor_units{currency="RUB"} 0.0' in metrics.text
    assert 'khrap_books_off_minor_units{currency="XTS"} 0.0' in metrics.text
