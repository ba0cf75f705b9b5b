"""What the demo checks: that it finds a unit that is missing, on whichever side it is."""

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from infra.settings import Settings
from services.bench.common import temporary_home
from services.core import Core, open_core
from services.demo import Outcome, run_demo, too_many_players
from services.demo.check import check
from services.runtime import running


@pytest.fixture(scope="module")
def settings() -> Any:
    with temporary_home() as made:
        yield made


async def demo(settings: Settings) -> Outcome:
    return await run_demo(
        settings, hands=4, players=3, game="khrap5", seed=11, progress=lambda done, total=None, note="": None
    )


@pytest_asyncio.fixture
async def core(settings: Settings) -> AsyncIterator[Core]:
    """A core on the log of a demo, with a projector that keeps its books."""
    async with open_core(settings) as core:
        if not any((await core.store.part_heads()).values()):
            assert (await demo(settings)).holds
        async with running(core, ("projector",)):
            yield core


def change(core: Core, statement: str) -> None:
    assert core.addresses.owner is not None
    with psycopg.connect(core.addresses.owner, autocommit=True) as owner:
        assert owner.execute(statement.encode()).rowcount == 1


async def test_the_books_of_a_demo_are_right(core: Core) -> None:
    checked = await check(core, "RUB")
    assert (checked.differences, checked.trial_balance, checked.chain) == ((), 0, "intact")
    assert checked.deposited == checked.in_accounts + checked.in_purses + checked.in_banks + checked.commission > 0


async def test_a_unit_that_only_the_ledger_has_is_a_mismatch_and_a_trial_balance(core: Core) -> None:
    player = "(select min(account) from ledger_v1.balance where account like 'player:%')"
    change(core, f"update ledger_v1.balance set balance = balance + 1 where account = {player}")
    checked = await check(core, "RUB")
    change(core, f"update ledger_v1.balance set balance = balance - 1 where account = {player}")
    (difference,) = checked.differences
    assert difference.startswith("player:")
    assert checked.trial_balance == 1


async def test_an_account_that_the_log_does_not_know_is_a_mismatch(core: Core) -> None:
    change(core, "insert into ledger_v1.balance values ('purse:nowhere:nobody', 'RUB', 0, 7)")
    checked = await check(core, "RUB")
    change(core, "delete from ledger_v1.balance where account = 'purse:nowhere:nobody'")
    (difference,) = checked.differences
    assert "the log does not know" in difference


async def test_a_changed_deposit_breaks_the_sums_and_the_chain(core: Core) -> None:
    stream = "stream_id = (select min(stream_id) from store.event where type = 'deposited') and type = 'deposited'"
    body = "convert_to(replace(convert_from(body, 'UTF8'), '{}', '{}'), 'UTF8')"
    more, less = '"amount":120000', '"amount":120001'
    change(core, f"update store.event set body = {body.format(more, less)} where {stream} and seq = 2")
    checked = await check(core, "RUB")
    change(core, f"update store.event set body = {body.format(less, more)} where {stream} and seq = 2")
    assert checked.chain.startswith("broken: ")
    total = checked.in_accounts + checked.in_purses + checked.in_banks + checked.commission
    assert checked.deposited == total + 1
    assert any(each.startswith("cash") for each in checked.differences)


def test_a_table_has_seats_for_so_many() -> None:
    assert [too_many_players(game, 10) for game in ("khrap", "frap", "khrap5")] == [True, False, True]
