"""R3: what becomes of disputes when nobody does anything, by a clock that is put forward."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from domain.disputes import Dispute, Open
from domain.disputes.commands import EraseTexts, Reviewer
from domain.disputes.dispute import DAY_MS
from infra.clock import ManualClock
from infra.dispute_keys import DisputeKeys
from infra.meta import decode_meta
from infra.projection_store import ProjectionReader
from projections.current import come_up
from projections.disputes import due_disputes
from services.disputes.service import Disputes
from services.play.types import Caller, Request
from services.steward.deadlines import Deadlines
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def at(node: Node, days: int) -> AsyncIterator[Disputes]:
    """A clock of disputes that runs so many days from now, for as long as the block."""
    core = node.core
    clock = ManualClock(core.clock.now_ms() + days * DAY_MS)
    keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
    async with ProjectionReader(core.addresses.application) as reader:
        disputes = Disputes(core.store, core.codec, core.play, reader, keys, clock)
        running = asyncio.create_task(
            Deadlines(disputes, lambda now_ms: due_disputes(reader, now_ms), clock, look_s=0.02).run()
        )
        try:
            yield disputes
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    await keys.close()


async def opened(node: Node) -> tuple[str, str]:
    """A dispute of a fresh hand, and who opened it."""
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, anna, boris)
    hand_id = (await play_hand(node, table_id, anna, boris))["hand_id"]

    async def done() -> Any:
        answer = await node.as_(anna).post("/v1/disputes", {"hand_id": hand_id, "statement": "a test"})
        return answer.json() if answer.is_success else None

    return str((await until(done))["dispute_id"]), anna


def state(disputes: Disputes, dispute_id: str) -> Callable[[], Awaitable[Dispute]]:
    async def read() -> Dispute:
        found = await disputes.dispute(dispute_id)
        assert found is not None
        return found

    return read


async def test_r3_an_overdue_dispute_is_said_to_be_so_and_stays_open(node: Node) -> None:
    older, _ = await opened(node)
    dispute_id, anna = await opened(node)
    rita = node.as_("rita", "compliance")
    async with at(node, 15) as disputes:

        async def overdue() -> bool:
            both = [(await rita.saw(f"/v1/disputes/{each}"))["overdue"] for each in (older, dispute_id)]
            return both == [1, 1]

        await until(overdue)
        assert isinstance((await state(disputes, dispute_id)()).phase, Open)
    seen = await node.as_(anna).saw(f"/v1/disputes/{dispute_id}")
    assert (seen["phase"], seen["entries"][-1]["type"]) == ("open", "dispute_overdue")
    last = await node.core.store.read_last(f"dispute-{dispute_id}")
    assert last is not None
    meta = decode_meta(last.meta)
    assert (meta.subject, meta.role, meta.by) == ("steward", "clock", "clock")
    # It stands before younger ones, and before an older one that has its verdict.
    younger, _ = await opened(node)
    await rita.did(f"/v1/disputes/{older}/verdict", {"outcome": "rejected", "text": "a test"})

    async def listed() -> Any:
        found = {d["dispute_id"]: d["phase"] for d in (await rita.saw("/v1/disputes"))["disputes"]}
        return list(found) if younger in found and found[older] == "judged" else None

    found = await until(listed)
    assert found.index(dispute_id) < found.index(older) < found.index(younger)
    paged: list[str] = []
    cursor = None
    while cursor is not None or not paged:
        page = await rita.saw("/v1/disputes", limit=1, **({"cursor": cursor} if cursor else {}))
        paged += [d["dispute_id"] for d in page["disputes"]]
        cursor = page["next"]
    assert paged == found


async def test_r3_a_proposal_lapses_and_then_the_dispute_ends(node: Node) -> None:
    dispute_id, anna = await opened(node)
    path = f"/v1/disputes/{dispute_id}"
    rita = node.as_("rita", "compliance")
    await rita.did(f"{path}/verdict", {"outcome": "upheld", "text": "a test"})
    await rita.did(f"{path}/compensations", {"player": anna, "amount": 5, "text": "a test"})
    before = (await node.as_(anna).saw(f"/v1/accounts/{anna}/RUB"))["balance"]

    async def kinds() -> list[str]:
        return [e["type"] for e in (await rita.saw(path))["entries"]]

    async def lapsed() -> bool:
        return "proposal_dropped" in await kinds()

    async def closed() -> bool:
        return "dispute_closed" in await kinds()

    async with at(node, 8):
        await until(lapsed)
        assert not await closed()
    late = await node.as_("roman", "compliance").post(f"{path}/proposals/1/approve")
    assert late.json()["code"] == "not_offered"
    async with at(node, 16):
        await until(closed)
    seen = await rita.saw(path)
    assert (seen["phase"], seen["outcome"], seen["entries"][-1]["why"]) == ("closed", "upheld", "expired")
    assert (await node.as_(anna).saw(f"/v1/accounts/{anna}/RUB"))["balance"] == before


async def test_r3_r6_an_unreadable_dispute_stops_no_other_and_keys_left_behind_are_destroyed(node: Node) -> None:
    core = node.core
    rita = node.as_("rita", "compliance")
    older, _ = await opened(node)
    broken, _ = await opened(node)
    younger, _ = await opened(node)
    await rita.did(f"/v1/disputes/{older}/verdict", {"outcome": "rejected", "text": "By the record."})
    await rita.did(f"/v1/disputes/{older}/close")
    # The process that erases ends between the event and the destruction of the key.
    keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
    async with ProjectionReader(core.addresses.application) as reader:
        clock = ManualClock(core.clock.now_ms() + 31 * DAY_MS)
        erasing = Disputes(core.store, core.codec, core.play, reader, _Dying(keys), clock)  # type: ignore[arg-type]

        def make(at_ms: int, _: Dispute, __: object) -> EraseTexts:
            return EraseTexts(at_ms=at_ms, reviewer=Reviewer(name="roman"), ground="request")

        with pytest.raises(ConnectionError):
            await erasing.command(older, Request(Caller("roman", "compliance"), "gone", "x"), make)
        assert await keys.get(older) is not None
        await come_up(reader, "disputes")
        with psycopg.connect(core.addresses.owner or "", autocommit=True) as owner:
            owner.execute("set session_replication_role = replica")
            owner.execute(
                "update store.event set type = 'of_tomorrow' where stream_id = %s and seq = 2", [f"dispute-{broken}"]
            )
        async with at(node, 15) as disputes:

            async def overdue() -> bool:
                phase = (await state(disputes, younger)()).phase
                return isinstance(phase, Open) and phase.overdue == 1

            async def destroyed() -> bool:
                return await keys.get(older) is None

            await until(overdue)
            await until(destroyed)
    await keys.close()


class _Dying:
    """Keys whose destruction the process does not live to see."""

    def __init__(self, keys: DisputeKeys) -> None:
        self._keys = keys

    async def get(self, dispute_id: str) -> object:
        return await self._keys.get(dispute_id)

    async def erase(self, dispute_id: str, at_ms: int) -> None:
        raise ConnectionError(dispute_id)
