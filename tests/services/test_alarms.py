"""T7 to T10, DESIGN §6: a wrong settlement has its own table halted by the books, and no other."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from domain import consequences, settlement, table
from domain.events import Result
from domain.hand import Hand
from infra.entropy import SystemEntropy
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from projections.ledger.reads import mismatches
from services.api.tokens import Signer
from services.bots import Bot, Client
from services.core import open_core
from services.runtime import PARTS, running

RIGHT, WRONG = 2_000, 2_004
"""Stakes: the fault is planted where the second is played for."""


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="khrap-alarms-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(60):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.05)


def off_by_one(hand: Hand) -> Result:
    """The result with one unit more for the first who has a share, taken from the carried bank."""
    result = settlement.settle(hand)
    lucky = next((p for p in result.players if p.share), None)
    if hand.stake != WRONG or lucky is None:
        return result
    more = replace(lucky, share=lucky.share + 1, purse=lucky.purse + 1)
    players = tuple(more if p is lucky else p for p in result.players)
    return replace(result, players=players, carried_bank=result.carried_bank - 1)


@pytest.mark.timeout(240)
async def test_an_off_by_one_in_settlement_halts_its_table_and_the_others_go_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(13)
    async with (
        open_core(Settings(home=str(home))) as core,
        running(core, PARTS) as url,
        ProjectionReader(core.addresses.application) as reader,
        asyncio.TaskGroup() as group,
    ):
        signer = Signer(core.keys, core.clock, SystemEntropy())
        operator = Client(url, signer.bearer("olga", "operator"))
        cashier = Client(url, signer.bearer("kassa", "cashier"))
        tables: dict[int, str] = {}
        playing: list[asyncio.Task[None]] = []
        for stake in (RIGHT, WRONG):
            opened = await operator.post(
                "/v1/tables",
                {"currency": "RUB", "stake": stake, "max_seats": 3, "pause_ms": 0, "options": {"game": "khrap"}},
            )
            tables[stake] = opened["table_id"]
            for seat in range(3):
                player = f"p{stake}-{seat}"
                await cashier.post("/v1/accounts", {"player": player, "currency": "RUB"})

                async def refill(amount: int, player: str = player) -> None:
                    await cashier.post(f"/v1/accounts/{player}/RUB/deposits", {"amount": 10 * amount})

                await refill(100_000)
                client = Client(url, signer.bearer(player, "player"))
                bot = Bot(client, tables[stake], player, random.Random(chance.random()), 100_000, refill)
                await bot.sit()
                playing.append(group.create_task(bot.play()))

        async def hands(stake: int) -> int:
            found = await core.play.table(tables[stake])
            assert found is not None
            return found[1].hand_no

        async def halted(stake: int) -> bool:
            found = await core.play.table(tables[stake])
            assert found is not None
            return found[1].halt is not None and found[1].halt.fault

        async def played(by: int) -> bool:
            return min(await hands(RIGHT), await hands(WRONG)) >= by

        async def idle() -> bool:
            found = await core.play.table(tables[WRONG])
            return found is not None and table.running(found[1]) is None

        await until(lambda: played(2))
        assert not await halted(WRONG)
        monkeypatch.setattr(consequences, "settle", off_by_one)
        await until(lambda: halted(WRONG))
        on = await hands(RIGHT) + 2
        await until(idle)
        stopped = await hands(WRONG)

        async def went_on() -> bool:
            return await hands(RIGHT) >= on

        await until(went_on)
        assert not await halted(RIGHT)
        assert await hands(WRONG) == stopped
        (parked,) = await mismatches(reader)
        assert parked.stream == f"table-{tables[WRONG]}"
        assert "T9" in parked.reason
        for task in playing:
            task.cancel()
