"""A command's one way: accepted once, refused with a reason, whoever asks twice and through whichever process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from domain.actions import Action
from domain.commands import Deposit, HaltTable, Leave, ResumeTable, Sit, StartHand, TopUp, Withdraw
from domain.table import deadline, money, running, seat_at
from infra.store import StoredEvent
from services.play.types import AccountAnswer, Answer, KeyReused, NotFound, Refusal
from tests.conftest import Database
from tests.services.house import SETTINGS, House, acting, house_on, play_hand, request, some_action


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with house_on(database.app_url) as made:
        yield made


async def started(house: House, table_id: str) -> None:
    answer = await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
    assert isinstance(answer, Answer), answer


async def events_of(house: House, stream: str) -> list[StoredEvent]:
    return await house.store.read_stream(stream)


async def test_t2_sitting_down_moves_money_from_the_account_to_the_purse_under_one_command(house: House) -> None:
    table_id = await house.table("anna", buy_in=50_000)
    (seat,) = (await house.state(table_id)).seats
    assert (seat.purse, await house.balance("anna")) == (50_000, 50_000)
    (sat,) = [e for e in await events_of(house, f"table-{table_id}") if e.type == "player_sat"]
    (bought,) = [e for e in await events_of(house, "account-anna-RUB") if e.type == "bought_in"]
    assert sat.command_id == bought.command_id


async def test_t2_who_has_too_little_sits_nowhere_and_pays_nothing(house: House) -> None:
    table_id = await house.table()
    await house.account("anna", 39_999)
    outcome = await house.sit(table_id, "anna", 40_000)
    assert isinstance(outcome, Refusal)
    assert outcome.refused.code == "insufficient_funds"
    assert (await house.state(table_id)).seats == ()
    assert await house.balance("anna") == 39_999
    assert [e.type for e in await events_of(house, f"table-{table_id}")] == ["table_opened", "hand_committed"]


async def test_one_key_opens_one_table(house: House) -> None:
    asked = request("operator")
    first = await house.play.open_table(asked, SETTINGS)
    assert await house.play.open_table(asked, SETTINGS) == first


async def test_the_same_key_at_once_has_one_effect_and_one_answer(house: House) -> None:
    table_id = await house.table()
    await house.account("anna", 100_000)
    asked = request("anna")
    outcomes = await asyncio.gather(
        *[
            house.play.command(table_id, asked, lambda at, _: Sit(at_ms=at, player="anna", buy_in=40_000))
            for _ in range(8)
        ]
    )
    assert all(o == outcomes[0] for o in outcomes)
    assert isinstance(outcomes[0], Answer)
    assert await house.balance("anna") == 60_000


async def test_the_same_key_through_two_processes_at_once(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris")
    await started(house, table_id)
    async with house_on(database.app_url) as other:
        chance = random.Random(1)
        while running(table := await house.state(table_id)) is not None:
            player, action = some_action(table, chance)
            asked = request(player)
            make = acting(player, table.turn, action)
            ours, theirs = await asyncio.gather(
                house.play.command(table_id, asked, make), other.play.command(table_id, asked, make)
            )
            assert ours == theirs
            assert isinstance(ours, Answer)
        assert await other.state(table_id) == await house.state(table_id)


async def test_a_repeat_gets_the_first_answer_though_its_turn_is_long_over(house: House) -> None:
    table_id = await house.table("anna", "boris")
    await started(house, table_id)
    table = await house.state(table_id)
    player, action = some_action(table, random.Random(2))
    asked = request(player)
    make = acting(player, table.turn, action)
    first = await house.play.command(table_id, asked, make)
    assert isinstance(first, Answer)
    await play_hand(house, table_id, random.Random(3))
    assert await house.play.command(table_id, asked, make) == first


async def test_a_key_for_another_request_is_reused(house: House) -> None:
    table_id = await house.table()
    await house.account("anna", 200_000)
    asked = request("anna", digest="one")
    assert isinstance(
        await house.play.command(table_id, asked, lambda at, _: Sit(at_ms=at, player="anna", buy_in=40_000)), Answer
    )
    other = request("anna", key=asked.key, digest="two")
    outcome = await house.play.command(table_id, other, lambda at, _: TopUp(at_ms=at, player="anna", amount=1))
    assert outcome == KeyReused(asked.key)
    assert await house.balance("anna") == 160_000


async def test_a_refusal_is_not_remembered(house: House) -> None:
    table_id = await house.table()
    await house.account("anna", 10_000)
    asked = request("anna")

    outcome = await house.play.command(table_id, asked, lambda at, _: Sit(at_ms=at, player="anna", buy_in=40_000))
    assert isinstance(outcome, Refusal)
    await house.play.accounts.command("anna", "RUB", request("cashier"), lambda at: Deposit(at_ms=at, amount=90_000))
    outcome = await house.play.command(table_id, asked, lambda at, _: Sit(at_ms=at, player="anna", buy_in=40_000))
    assert isinstance(outcome, Answer)


async def test_a_refusal_tells_the_caller_his_own_choices_and_changes_nothing(house: House) -> None:
    table_id = await house.table("anna", "boris")
    await started(house, table_id)
    table = await house.state(table_id)
    due = deadline(table)
    assert due is not None
    other = next(s for s in table.seats if s.seat != due.seat)
    late = acting(other.player, table.turn, Action(do="pass"))
    outcome = await house.do(table_id, other.player, late)
    assert isinstance(outcome, Refusal)
    assert (outcome.refused.code, outcome.legal_actions, outcome.turn) == ("not_your_turn", (), table.turn)
    mine = seat_at(table, due.seat)
    assert mine is not None
    outcome = await house.do(table_id, mine.player, acting(mine.player, table.turn, Action(do="help")))
    assert isinstance(outcome, Refusal)
    assert outcome.refused.code == "not_offered"
    assert {o.do for o in outcome.legal_actions} >= {"khrap", "pass"}
    assert await house.state(table_id) == table


async def test_a_click_for_an_old_turn_plays_in_no_other(house: House) -> None:
    table_id = await house.table("anna", "boris")
    await started(house, table_id)
    table = await house.state(table_id)
    player, _ = some_action(table, random.Random(4))
    assert isinstance(await house.do(table_id, player, acting(player, table.turn, Action(do="pass"))), Answer)
    outcome = await house.do(table_id, player, acting(player, table.turn, Action(do="pass")))
    assert isinstance(outcome, Refusal)
    assert outcome.refused.code == "stale_turn"


async def test_a_process_whose_cache_is_old_reloads_before_it_refuses(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris")
    async with house_on(database.app_url) as other:
        await other.state(table_id)
        await started(house, table_id)
        # The other process still believes that no hand runs; it looks before it says so.
        table = await house.state(table_id)
        player, action = some_action(table, random.Random(5))
        outcome = await other.do(table_id, player, acting(player, table.turn, action))
        assert isinstance(outcome, Answer)


async def test_two_processes_play_one_table_in_turn(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris", "vera")
    chance = random.Random(6)
    async with house_on(database.app_url) as other:
        for _ in range(5):
            await started(house, table_id)
            while running(table := await house.state(table_id)) is not None:
                player, action = some_action(table, chance)
                through = chance.choice((house, other))
                assert isinstance(await through.do(table_id, player, acting(player, table.turn, action)), Answer)
            if min(s.purse for s in table.seats) < 2_000:
                break
    walked = await house.store.verify()
    assert walked.broken == ()


async def test_t13_the_last_to_leave_ends_it_and_all_money_is_on_the_accounts(house: House) -> None:
    table_id = await house.table("anna", "boris", buy_in=100_000)
    await started(house, table_id)
    await play_hand(house, table_id, random.Random(7))
    commission = 400_000 - money(await house.state(table_id)) - 200_000
    for player in ("anna", "boris"):
        assert isinstance(
            await house.do(table_id, player, lambda at, _, who=player: Leave(at_ms=at, player=who)),  # type: ignore[misc]
            Answer,
        )
    table = await house.state(table_id)
    assert (table.seats, table.carried_bank) == ((), 0)
    assert await house.balance("anna") + await house.balance("boris") + commission == 400_000


async def test_what_does_not_exist_is_not_found(house: House) -> None:
    missing = "018f0000-0000-7000-8000-000000000001"
    outcome = await house.do(missing, "anna", lambda at, _: Leave(at_ms=at, player="anna"))
    assert outcome == NotFound(f"table {missing}")
    answer = await house.play.accounts.command(
        "nobody", "RUB", request("cashier"), lambda at: Withdraw(at_ms=at, amount=1)
    )
    assert isinstance(answer, NotFound)


async def test_accounts_never_go_below_zero_however_many_withdraw_at_once(house: House) -> None:
    await house.account("anna", 1_000)
    outcomes = await asyncio.gather(
        *[
            house.play.accounts.command("anna", "RUB", request("cashier"), lambda at: Withdraw(at_ms=at, amount=400))
            for _ in range(3)
        ],
        return_exceptions=True,
    )
    done = [o for o in outcomes if isinstance(o, AccountAnswer)]
    assert await house.balance("anna") == 1_000 - 400 * len(done)
    assert 1 <= len(done) <= 2


async def test_steps_from_the_log_are_those_of_the_cache(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris")
    for seed in range(3):
        await started(house, table_id)
        await play_hand(house, table_id, random.Random(seed))
    async with house_on(database.app_url) as other:
        for after in range(0, (await house.play.table(table_id) or (0, None))[0], 7):
            ours = await house.play.steps(table_id, after, 20)
            theirs = await other.play.steps(table_id, after, 20)
            assert [(s.seq, s.at_ms, s.event) for s in ours] == [(s.seq, s.at_ms, s.event) for s in theirs]
            assert [s.after for s in ours] == [s.after for s in theirs]


async def test_a_refusal_is_of_the_newest_state_though_a_reader_brought_the_table_up(
    house: House, database: Database
) -> None:
    """Refused on an old state, where a reader of the same process had loaded the new one meanwhile."""
    table_id = await house.table("anna", "boris")
    stop = asyncio.Event()

    async def read() -> None:
        while not stop.is_set():
            await house.state(table_id)

    async with house_on(database.app_url) as other:
        readers = [asyncio.create_task(read()) for _ in range(4)]
        for _ in range(40):
            halted = await other.do(table_id, "ops", lambda at, _: HaltTable(at_ms=at, reason="a try"))
            assert isinstance(halted, Answer), halted
            resumed = await house.do(table_id, "ops", lambda at, _: ResumeTable(at_ms=at, reason="a try"))
            assert isinstance(resumed, Answer), resumed
        stop.set()
        await asyncio.gather(*readers)
