"""Reports over HTTP: JSON or CSV, by `format` or Accept; a reason that looks like a formula is none."""

from __future__ import annotations

import csv
import io
import secrets
from typing import Any

import pytest

from projections.paging import cursor_of
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
FORMULA = '=HYPERLINK("http://evil","click")'


async def _voided(node: Node) -> str:
    """A table with a settled hand and one that ops voided for a reason that is a formula."""
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, anna, boris)
    await play_hand(node, table_id, anna, boris)
    path = f"/v1/tables/{table_id}"

    async def voided() -> bool:
        await node.as_("oona", "ops").post(f"{path}/void", {"reason": FORMULA})
        return (await node.as_("otto", "ops").post(f"{path}/void", {"reason": FORMULA})).is_success

    await until(voided)
    return table_id


async def test_t12_voids_as_json_and_as_csv_without_a_formula(node: Node) -> None:
    table_id = await _voided(node)
    olga = node.as_("olga", "operator")

    async def shown() -> Any:
        answer = await olga.get("/v1/reports/voids")  # 503 until the projections are made
        return answer.is_success and [r for r in answer.json()["rows"] if r["table_id"] == table_id]

    (row,) = await until(shown)
    assert (row["cause"], row["reason"], row["players"]) == ("ops", FORMULA, 2)
    by_query = await olga.get("/v1/reports/voids", format="csv")
    by_header = await node.http.get("/v1/reports/voids", headers={**olga.headers, "Accept": "text/csv"})
    assert by_query.text == by_header.text
    assert by_query.headers["content-type"] == "text/csv; charset=utf-8"
    assert by_query.headers["content-disposition"] == 'attachment; filename="voids.csv"'
    (mine,) = [r for r in csv.DictReader(io.StringIO(by_query.text, newline="")) if r["table"] == table_id]
    assert mine["reason"] == f"'{FORMULA}"
    both = await node.http.get("/v1/reports/voids", headers={**olga.headers, "Accept": "application/json, text/csv"})
    assert both.headers["content-type"] == "application/json"


async def test_t10_commission_and_statement_agree(node: Node) -> None:
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000, stake=10_000)
    await node.seat(table_id, anna, boris, buy_in=500_000, account=1_000_000)
    rita = node.as_("rita", "compliance")
    for _ in range(3):
        await play_hand(node, table_id, anna, boris)

    query = {"account": "house:commission", "currency": "RUB", "limit": 10_000}

    async def agree() -> bool:
        """Both are of the same projection, read one after the other."""
        answer = await rita.get("/v1/reports/commission")
        rows = [r for r in answer.json()["rows"] if r["table_id"] == table_id] if answer.is_success else []
        lines = (await rita.saw("/v1/reports/statement", **query))["lines"] if rows else []
        mine = [line["change"] for line in lines if line["stream"] == f"table-{table_id}"]
        return len(mine) >= 1 and sum(mine) == sum(r["amount"] for r in rows)

    await until(agree)
    first = await rita.get("/v1/reports/commission", limit=1, format="csv")
    if first.headers.get("next-cursor"):
        more = await rita.get("/v1/reports/commission", limit=1, format="csv", cursor=first.headers["next-cursor"])
        assert more.text.splitlines()[1:] != first.text.splitlines()[1:]
    assert (await rita.get("/v1/reports/statement", account="player:*", currency="RUB")).status_code == 422
    assert (await rita.get("/v1/reports/commission", from_ms=5, to_ms=4)).status_code == 422
    assert (await rita.get("/v1/reports/fines", cursor="x")).status_code == 422
    for name, wrong in (("banks", ("\0", "RUB")), ("commission", (1, "table-\0", "RUB"))):
        assert (await rita.get(f"/v1/reports/{name}", cursor=cursor_of(*wrong))).status_code == 422, name
    far = cursor_of(2**53 - 1, 2**53 - 1, 2**53 - 1, 2**53 - 1, -(2**62))
    assert (await rita.saw("/v1/reports/statement", **query | {"cursor": far}))["lines"] == []
    wide = cursor_of(2**53 - 1, 2**70, 2**70, 2**70, 2**70)
    assert (await rita.get("/v1/reports/statement", **query | {"cursor": wide})).status_code == 422
    assert (await rita.saw("/v1/reports/fines", to_ms=1))["rows"] == []
    banks = {r["table_id"]: r["amount"] for r in (await rita.saw("/v1/reports/banks"))["rows"]}
    assert all(amount > 0 for amount in banks.values())


async def test_t2_a_player_takes_his_own_statement_as_a_file(node: Node) -> None:
    anna = f"anna-{secrets.token_hex(3)}"
    till = node.as_("clara", "cashier")
    await till.did("/v1/accounts", {"player": anna, "currency": "RUB"})
    await till.did(f"/v1/accounts/{anna}/RUB/deposits", {"amount": 700})
    path = f"/v1/accounts/{anna}/RUB/statement"

    async def shown() -> Any:
        answer = await node.as_(anna).get(path, format="csv")
        return list(csv.DictReader(io.StringIO(answer.text, newline=""))) if answer.is_success else None

    (line,) = await until(shown)
    assert (line["other"], line["change"], line["balance"]) == ("cash", "700", "700")
    assert (await node.as_("boris").get(path, format="csv")).status_code == 403
    assert (await node.as_(anna).saw(path))["lines"][0]["change"] == 700
