"""S6, H7: a recorded hand that leaves the rules discloses no more to a player than one that keeps to them."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from domain import consequences
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.timeout(240)
async def test_s6_the_seed_of_a_hand_that_leaves_the_rules_stays_with_compliance(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000, pause_ms=3_000, seed_disclosure="compliance_only")
    await node.seat(table_id, anna, boris)
    right = consequences.winner
    with monkeypatch.context() as planted:
        planted.setattr(
            consequences, "winner", lambda trick, trump: next(p.seat for p in trick if p.seat != right(trick, trump))
        )
        hand_id = str((await play_hand(node, table_id, anna, boris))["hand_id"])
    path = f"/v1/hands/{hand_id}"

    async def over() -> Any:
        return (await node.as_(anna).get(f"{path}/looks")).is_success

    await until(over)
    seen = await node.as_(anna).saw(f"{path}/replay")
    assert (seen["open"], seen["rules"]["state"]) == (False, "fails")
    assert (seen["shuffle"]["state"], seen["shuffle"]["server_seed"]) == ("not_checked", None)
    for place in (path, f"{path}/file"):
        refused = await node.as_(anna).get(place)
        assert (refused.status_code, refused.json()["code"]) == (409, "not_replayable")
    whole = await node.as_("carla", "compliance").saw(f"{path}/replay", reason="the record leaves the rules")
    seed = whole["shuffle"]["server_seed"]
    assert len(seed) == 64
    assert seed not in str(seen)
    as_anna = await node.as_("carla", "compliance").saw(f"{path}/replay", reason="as she saw it", seat=0)
    assert as_anna["shuffle"]["server_seed"] is None
