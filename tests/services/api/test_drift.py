"""A process whose clock is far off records nothing by it: what it recorded would hold for all others. T11."""

from __future__ import annotations

import httpx
import pytest
from msgspec.structs import replace

from infra.clock import Clock, ManualClock, SystemClock
from infra.faults import Fault
from services.api.tokens import Signer
from services.drift import LIMIT_MS, check_drift
from services.runtime import running
from tests.services.api.nodes import Caller, Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Off(SystemClock):
    """The system's clock, off by so much."""

    off_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.off_ms


@pytest.mark.parametrize("sign", [1, -1])
async def test_from_five_seconds_on_the_systems_clock_is_not_trusted(sign: int) -> None:
    check_drift(SystemClock(), sign * LIMIT_MS)
    with pytest.raises(Fault, match="unavailable: this process's clock is 600 s"):
        check_drift(SystemClock(), sign * 600_000)
    with pytest.raises(Fault, match="unavailable"):
        check_drift(SystemClock(), sign * (LIMIT_MS + 1))
    clock: Clock = ManualClock(0)
    check_drift(clock, sign * 600_000)


@pytest.mark.parametrize("off_ms", [600_000, -600_000])
async def test_a_process_whose_clock_is_off_takes_no_writes_until_it_is_right(node: Node, off_ms: int) -> None:
    till = node.as_("clara", "cashier")
    player = f"drift-{'ahead' if off_ms > 0 else 'behind'}"
    await till.did("/v1/accounts", {"player": player, "currency": "RUB"})
    clock = Off()
    async with (
        running(replace(node.core, clock=clock), ("api",)) as url,
        httpx.AsyncClient(base_url=url, timeout=30) as http,
    ):
        # Far enough from both ends for a clock that is off.
        token = Signer(node.core.keys, ManualClock(clock.now_ms() - 900_000), node.core.entropy)
        caller = Caller(http, token.bearer("clara", "cashier", 3_600))

        async def answer(success: bool) -> httpx.Response | None:
            response = await caller.post(f"/v1/accounts/{player}/RUB/deposits", {"amount": 1})
            return response if response.is_success == success else None

        assert await answer(True)
        clock.off_ms = off_ms
        problem = await until(lambda: answer(False))
        assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
        assert "clock" in problem.json()["detail"]
        assert (await caller.get(f"/v1/accounts/{player}/RUB")).is_success
        clock.off_ms = 0
        await until(lambda: answer(True))
