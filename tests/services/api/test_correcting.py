"""R5 over HTTP: a wrong settlement halts its table; two reviewers put the hand right; the table plays on."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import pytest
from msgspec.structs import replace

from domain import consequences, settlement
from domain.commands import ResumeTable
from domain.events import HandCorrected, Result
from domain.hand import Hand
from infra.projection_store import ProjectionReader
from projections.ledger.reads import mismatches, trial_balance
from projections.ledger.reconciling import reconcile
from services.demo.sums import Reader
from services.disputes import money
from services.disputes.correcting import correctable
from services.play.types import Caller as Person
from services.play.types import Request
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
STAKE = 104
"""The fault is planted where this is played for."""


def generous(hand: Hand) -> Result:
    """The result with 7 units more for the first who has a share, out of nothing."""
    result = settlement.settle(hand)
    lucky = next((p for p in result.players if p.share), None)
    if hand.stake != STAKE or lucky is None:
        return result
    more = replace(lucky, share=lucky.share + 7, purse=lucky.purse + 7)
    return replace(result, players=tuple(more if p is lucky else p for p in result.players))


@pytest.mark.timeout(240)
async def test_r5_a_wrong_settlement_is_put_right_by_two_and_the_table_goes_on(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(stake=STAKE, turn_ms=300_000, pause_ms=3_000)
    await node.seat(table_id, anna, boris)
    path = f"/v1/tables/{table_id}"
    with monkeypatch.context() as planted:
        planted.setattr(consequences, "settle", generous)
        hand_id = str((await play_hand(node, table_id, anna, boris))["hand_id"])

    async def halted() -> Any:
        return (await node.anyone().saw(path))["halted"]

    assert "the books differ" in await until(halted)
    recorded = (await node.as_(anna).saw(f"/v1/hands/{hand_id}"))["players"]
    rita, roman = (node.as_(name, "compliance") for name in ("rita", "roman"))
    body = {"hand_id": hand_id, "statement": "I have too little."}
    dispute = f"/v1/disputes/{(await node.as_(anna).did('/v1/disputes', body))['dispute_id']}"
    await rita.did(f"{dispute}/verdict", {"outcome": "upheld", "text": "The books say so too."})
    preview = await rita.saw(f"{dispute}/correction")
    assert (preview["basis"], preview["bank_due"], preview["resumes"]) == ("rules", 0, True)
    ((due, moved, to),) = [(p["due"], p["moved"], p["to"]) for p in preview["players"]]
    assert (due, moved, to) == (-7, -7, "purse")
    proposed = await rita.did(f"{dispute}/corrections", {"text": "7 units too many"})
    approve = f"{dispute}/proposals/{proposed['proposal']}/approve"
    assert (await rita.post(approve)).json()["code"] == "two_persons"
    assert await halted()
    before = {s["player"]: s["purse"] for s in (await node.anyone().saw(path))["seats"]}
    approved = await roman.did(approve, key="second")
    assert await roman.did(approve, key="second") == approved
    view = await node.as_(anna).saw(path)
    assert view["halted"] is None
    assert sum(before.values()) - sum(s["purse"] for s in view["seats"]) in (7, 0)  # a new hand's antes are out
    async with ProjectionReader(node.core.addresses.application) as reader:

        async def healed() -> bool:
            return not any(p.stream == f"table-{table_id}" for p in await mismatches(reader))

        await until(healed)
        assert (await trial_balance(reader)).zero
        sums = await Reader(node.core.store, node.core.codec, node.core.play).sums(await node.core.store.part_heads())
        assert sum(sums.balances.values()) == 0
        found = await reconcile(node.core.store, node.core.codec.decode_public, reader)
        assert not [d for d in found.differences if table_id in d.where or table_id in d.account]
    for route in ("", "/replay"):
        assert (await node.as_(anna).saw(f"/v1/hands/{hand_id}{route}"))["corrected"], route
    again = await rita.post(f"{dispute}/corrections", {"text": "once more"})
    assert (again.json()["code"], again.json()["clause"]) == ("not_offered", "R5")
    # The stream tells it to everybody at the table, without the dispute and the reviewers.
    steps = [s.event for s in await node.core.play.steps(table_id, 0, 1_000)]
    (corrected,) = [e for e in steps if isinstance(e, HandCorrected)]
    assert {p.due for p in corrected.players} == {-7}
    assert corrected.reviewers == ("rita", "roman")
    assert {p["player"] for p in recorded} == {anna, boris}
    # And the next hand is played, by the rules.
    assert (await play_hand(node, table_id, anna, boris))["hand_id"] != hand_id
    assert await halted() is None


@pytest.mark.timeout(240)
async def test_r5_two_disputes_of_a_hand_correct_it_once(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the figures came from one read of the table and its version from a later one: both were paid."""
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(stake=STAKE, turn_ms=300_000, pause_ms=3_000)
    await node.seat(table_id, anna, boris)
    with monkeypatch.context() as planted:
        planted.setattr(consequences, "settle", generous)
        hand_id = str((await play_hand(node, table_id, anna, boris))["hand_id"])

    async def halted() -> Any:
        return (await node.anyone().saw(f"/v1/tables/{table_id}"))["halted"]

    await until(halted)
    # T3: meanwhile one of ops does not set it going, or wrong purses would be paid out.
    resumed = await node.as_("oona", "ops").post(f"/v1/tables/{table_id}/resume", {"reason": "they wait"})
    assert (resumed.json()["code"], resumed.json()["clause"]) == ("not_offered", "R5")
    # Nor does anything else for long: while the books differ the table is halted again.
    request = Request(Person("oona", "ops"), "anyhow", "x")
    await node.core.play.command(table_id, request, lambda at_ms, _: ResumeTable(at_ms=at_ms, reason="anyhow"))
    assert "the books differ" in await until(halted)
    rita, roman = (node.as_(name, "compliance") for name in ("rita", "roman"))
    approvals = []
    for opener in (anna, boris):
        opened = await node.as_(opener).did("/v1/disputes", {"hand_id": hand_id, "statement": "I have too little."})
        path = f"/v1/disputes/{opened['dispute_id']}"
        await rita.did(f"{path}/verdict", {"outcome": "upheld", "text": "The books say so too."})
        proposed = await rita.did(f"{path}/corrections", {"text": "The books say so too."})
        approvals.append(f"{path}/proposals/{proposed['proposal']}/approve")
    reckon, reckoned, go_on = correctable, asyncio.Event(), asyncio.Event()

    async def slow(*given: Any) -> Any:
        found = await reckon(*given)
        if not reckoned.is_set():
            reckoned.set()
            await go_on.wait()
        return found

    monkeypatch.setattr(money, "correctable", slow)
    slower = asyncio.create_task(roman.post(approvals[0]))
    await reckoned.wait()
    await roman.did(approvals[1])
    go_on.set()
    refused = (await slower).json()
    assert (refused["code"], refused["clause"]) == ("nothing_to_correct", "R5")
    steps = [s.event for s in await node.core.play.steps(table_id, 0, 1_000)]
    (corrected,) = [e for e in steps if isinstance(e, HandCorrected)]
    assert corrected.resumes
    async with ProjectionReader(node.core.addresses.application) as reader:

        async def healed() -> bool:
            return not any(p.stream == f"table-{table_id}" for p in await mismatches(reader))

        await until(healed)
