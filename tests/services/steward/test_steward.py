"""What nobody asks for is done once, at its time, whoever is stopped when. T3, T4, T11, T13."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from domain.commands import CloseTable, Fresh, Leave, Sit, SitOut, StartHand, TableCommand
from domain.events import Settings
from domain.table import Table, deadline, running, seat_at
from infra.beat import Beat
from infra.clock import Clock, ManualClock, SystemClock
from infra.faults import Fault
from infra.leases import Leases
from infra.meta import decode_meta
from infra.store import Append, Appended, NewEvent, StoredEvent, StreamAppend
from services.play.types import Answer, Request
from services.steward.steward import Steward
from tests.conftest import Database
from tests.services.house import SETTINGS, House, acting, house_on, some_action

Make = Callable[[int, Fresh], TableCommand]
QUICK = replace(SETTINGS, turn_ms=100, time_bank_ms=100)


@asynccontextmanager
async def stewarded(house: House, database: Database, clock: Clock | None = None) -> AsyncIterator[None]:
    """A steward at work."""
    beat, leases = Beat(database.app_url), Leases(database.app_url)
    steward = Steward(house.store, house.play, beat, clock or house.clock, leases)
    task = asyncio.create_task(steward.run())
    try:
        yield
    finally:
        assert not task.done(), task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await leases.close()
        await beat.close()


async def until(house: House, table_id: str, holds: Callable[[Table], bool]) -> Table:
    """Wait until the table is so."""
    async with asyncio.timeout(30):
        while True:
            table = await house.state(table_id)
            if holds(table):
                return table
            await asyncio.sleep(0.01)


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with house_on(database.app_url) as made:
        yield made


async def types(house: House, table_id: str) -> list[str]:
    return [e.type for e in await house.store.read_stream(f"table-{table_id}")]


async def test_t4_hands_start_and_t11_the_clock_alone_ends_them(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris", settings=QUICK)
    async with stewarded(house, database):
        table = await until(house, table_id, lambda t: t.hand_no >= 1)
    # Two expiries in a row, then he sits out: nobody plays on by the clock alone.
    assert [s.sitting_out for s in table.seats] == [True, True]
    assert "time_bank_used" in await types(house, table_id)
    clocked = [e for e in await house.store.read_stream(f"table-{table_id}") if b'"by":"clock"' in e.body]
    assert clocked
    assert {decode_meta(e.meta).by for e in clocked} == {"clock"}


async def test_two_stewards_do_everything_once(house: House, database: Database) -> None:
    table_id = await house.table("anna", "boris", "vera", settings=replace(QUICK, pause_ms=0))
    async with house_on(database.app_url) as other:
        chance = random.Random(8)
        async with stewarded(house, database), stewarded(other, database):
            while (table := await house.state(table_id)).hand_no < 3:
                if running(table) is None:
                    await asyncio.sleep(0.005)
                    continue
                player, action = some_action(table, chance)
                await house.do(table_id, player, acting(player, table.turn, action))
            await house.do(table_id, "operator", lambda at, _: CloseTable(at_ms=at, reason="the night is over"))
            await until(house, table_id, lambda t: t.closed)
    seen = await types(house, table_id)
    assert seen.count("hand_started") == seen.count("hand_settled") + seen.count("hand_voided")
    assert seen.count("player_left") == 3
    assert seen[-1] == "table_closed"


async def test_t3_who_leaves_during_a_hand_is_acted_for_at_once_and_paid_after_it(
    house: House, database: Database
) -> None:
    table_id = await house.table("anna", "boris", settings=replace(SETTINGS, turn_ms=600_000))
    await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
    table = await house.state(table_id)
    due = deadline(table)
    assert due is not None
    leaver = seat_at(table, due.seat)
    assert leaver is not None
    async with stewarded(house, database):
        await house.do(table_id, leaver.player, lambda at, _: Leave(at_ms=at, player=leaver.player))
        stayer = next(s.player for s in table.seats if s.player != leaver.player)
        while running(table := await house.state(table_id)) is not None:
            due = deadline(table)
            assert due is not None
            on_turn = seat_at(table, due.seat)
            if on_turn is not None and on_turn.player == stayer:
                player, action = some_action(table, random.Random(9))
                await house.do(table_id, player, acting(player, table.turn, action))
            else:
                await asyncio.sleep(0.005)
        table = await until(house, table_id, lambda t: len(t.seats) == 1)
    assert table.seats[0].player == stayer
    assert table.departures[0].player == leaver.player
    assert await house.balance(leaver.player) == 100_000 + table.departures[0].purse


async def test_what_the_steward_writes_is_hashed_with_what_nobody_can_try(house: House, database: Database) -> None:
    """Event hashes are public: with a digest like `leave` a player's balance could be found by trying balances."""
    table_id = await house.table("anna", "boris", settings=QUICK)
    async with stewarded(house, database):
        await until(house, table_id, lambda t: t.hand_no >= 1)
    own = [
        (stored.type, decode_meta(stored.meta).request)
        for stored in await house.store.read_stream(f"table-{table_id}")
        if decode_meta(stored.meta).by != "person"
    ]
    assert {"hand_started", "hand_voided"} & {type_ for type_, _ in own}
    assert all(len(bytes.fromhex(request)) == 32 for _, request in own)
    assert len({request for _, request in own}) > 2


async def test_t3_auto_top_up_fills_the_purse_between_hands(house: House, database: Database) -> None:
    table_id = await house.table("boris")
    await house.account("anna", 1_000_000)
    answer = await house.do(
        table_id, "anna", lambda at, _: Sit(at_ms=at, player="anna", buy_in=40_000, auto_top_up=True)
    )
    assert isinstance(answer, Answer)
    async with stewarded(house, database):
        chance = random.Random(10)
        while "purse_topped_up" not in await types(house, table_id):
            table = await house.state(table_id)
            if running(table) is None:
                await asyncio.sleep(0.005)
                continue
            player, action = some_action(table, chance)
            await house.do(table_id, player, acting(player, table.turn, action))


async def test_t3_squatters_are_made_to_leave_after_ten_minutes(database: Database) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris")
        await house.do(table_id, "anna", lambda at, _: SitOut(at_ms=at, player="anna"))
        async with stewarded(house, database):
            clock.advance(10 * 60 * 1_000 - 1)
            await asyncio.sleep(0.3)
            assert len((await house.state(table_id)).seats) == 2
            clock.advance(1)
            table = await until(house, table_id, lambda t: len(t.seats) == 1)
        assert table.seats[0].player == "boris"
        assert await house.balance("anna") == 200_000


async def test_t11_after_the_clock_was_away_every_open_decision_gets_its_full_time_anew(database: Database) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris", settings=replace(SETTINGS, turn_ms=60_000, time_bank_ms=0))
        async with stewarded(house, database):
            await until(house, table_id, lambda t: running(t) is not None)
        clock.advance(3_600_000)
        async with stewarded(house, database):
            table = await until(house, table_id, lambda t: t.opened_at_ms == clock.now_ms())
    assert (await events_after_start(database, table_id))[-1] == "deadlines_renewed"
    due = deadline(table)
    assert due is not None
    assert due.clock_acts_ms == clock.now_ms() + 60_000


async def events_after_start(database: Database, table_id: str) -> list[str]:
    return [e.type for e in await events_of(database, table_id)]


async def events_of(database: Database, table_id: str) -> list[StoredEvent]:
    async with house_on(database.app_url) as house:
        return list(await house.store.read_stream(f"table-{table_id}"))


async def test_t11_a_short_stop_renews_nothing(database: Database) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris")
        async with stewarded(house, database):
            await until(house, table_id, lambda t: running(t) is not None)
        clock.advance(1_900)
        before = await house.state(table_id)
        async with stewarded(house, database):
            await asyncio.sleep(0.3)
        assert await house.state(table_id) == before


AHEAD_MS = 600_000
"""So far ahead the clock of one process is."""


async def at_work(database: Database, clock: Clock) -> None:
    """Wait until a steward has planned what is to be done, after which it notes that it runs."""
    beat = Beat(database.app_url)
    async with asyncio.timeout(30):
        while await beat.last_ms() != clock.now_ms():  # noqa: ASYNC110 (what another task writes into the store)
            await asyncio.sleep(0.01)
    await beat.close()


async def ahead(database: Database, table_id: str, clock: ManualClock, player: str, make: Make) -> None:
    """One command through a process whose clock is ahead."""
    async with house_on(database.app_url, ManualClock(clock.now_ms() + AHEAD_MS)) as wrong:
        assert isinstance(await wrong.do(table_id, player, make), Answer)


async def test_t11_after_a_clock_that_was_ahead_the_open_decision_has_its_time_from_now_on(database: Database) -> None:
    """The clock acted only once ours had come to the recorded time, and ten minutes later all was still to come."""
    clock = ManualClock(1_800_000_000_000)
    settings = replace(SETTINGS, turn_ms=1_000, time_bank_ms=0)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris", settings=settings)
        await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
        table = await house.state(table_id)
        player, action = some_action(table, random.Random(1))
        await ahead(database, table_id, clock, player, acting(player, table.turn, action))
        open_turn = (await house.state(table_id)).turn
        async with stewarded(house, database):
            await at_work(database, clock)
            clock.advance(999)
            await house.do(table_id, player, lambda at, _: SitOut(at_ms=at, player=player))
            await asyncio.sleep(0.5)
            assert (await house.state(table_id)).turn == open_turn
            clock.advance(1)
            # What else was recorded meanwhile gave it no more time.
            table = await until(house, table_id, lambda t: t.turn != open_turn)
            assert table.at_ms == clock.now_ms() + AHEAD_MS
            # And on it goes, by the clock alone, to the end of the hand.
            while running(await house.state(table_id)) is not None:
                clock.advance(20)
                await asyncio.sleep(0.01)
    recorded = [decode_meta(e.meta).at_ms for e in await events_of(database, table_id)]
    assert recorded == sorted(recorded)


async def test_t4_a_hand_starts_after_the_pause_though_the_table_is_ahead(database: Database) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", settings=replace(SETTINGS, pause_ms=5_000))
        await house.account("boris", 100_000)
        await ahead(database, table_id, clock, "boris", lambda at, _: Sit(at_ms=at, player="boris", buy_in=50_000))
        async with stewarded(house, database):
            await at_work(database, clock)
            clock.advance(4_999)
            await asyncio.sleep(0.5)
            assert running(await house.state(table_id)) is None
            clock.advance(1)
            await until(house, table_id, lambda t: running(t) is not None)


async def test_t3_t13_who_leaves_and_what_closes_does_so_at_once_though_the_table_is_ahead(database: Database) -> None:
    """Nobody was paid before our clock had come to the recorded time."""
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris")
        await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
        table = await house.state(table_id)
        player, action = some_action(table, random.Random(2))
        await ahead(database, table_id, clock, player, acting(player, table.turn, action))
        async with stewarded(house, database):
            for leaver in ("anna", "boris"):
                await house.do(table_id, leaver, lambda at, _, leaver=leaver: Leave(at_ms=at, player=leaver))  # type: ignore[misc]
            await until(house, table_id, lambda t: not t.seats)
            await house.do(table_id, "operator", lambda at, _: CloseTable(at_ms=at, reason="the clock is wrong"))
            await until(house, table_id, lambda t: t.closed)
        taken = [e.body for e in await events_of(database, table_id) if e.type == "commission_taken"]
        house_has = sum(json.loads(body)["amount"] for body in taken)
        assert await house.balance("anna") + await house.balance("boris") == 400_000 - house_has


async def test_t11_a_table_that_came_to_be_ahead_takes_no_time_from_a_decision_opened_before(
    database: Database,
) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with house_on(database.app_url, clock) as house:
        table_id = await house.table("anna", "boris", settings=replace(SETTINGS, turn_ms=1_000, time_bank_ms=0))
        await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
        turn = (await house.state(table_id)).turn
        await ahead(database, table_id, clock, "anna", lambda at, _: SitOut(at_ms=at, player="anna"))
        async with stewarded(house, database):
            await at_work(database, clock)
            clock.advance(999)
            await asyncio.sleep(0.5)
            assert (await house.state(table_id)).turn == turn
            clock.advance(1)
            await until(house, table_id, lambda t: t.turn != turn)


async def test_stopped_again_and_again_it_misses_nothing(database: Database) -> None:
    """The steward is cancelled at any await, many times, while hands go on by the clock and by players."""
    settings: Settings = replace(QUICK, turn_ms=30, time_bank_ms=0)
    async with house_on(database.app_url, SystemClock()) as house:
        table_id = await house.table("anna", "boris", "vera", settings=settings)
        chance = random.Random(11)
        for _ in range(25):
            async with stewarded(house, database):
                await asyncio.sleep(chance.random() * 0.1)
            await _anyone_acts(house, table_id, chance)
        await house.do(table_id, "operator", lambda at, _: CloseTable(at_ms=at, reason="enough"))
        async with stewarded(house, database):
            await until(house, table_id, lambda t: t.closed)
        seen = await types(house, table_id)
        assert seen.count("hand_started") == seen.count("hand_settled") + seen.count("hand_voided")
        assert seen.count("table_closed") == 1


async def _anyone_acts(house: House, table_id: str, chance: random.Random) -> None:
    table = await house.state(table_id)
    if running(table) is not None:
        player, action = some_action(table, chance)
        await house.do(table_id, player, acting(player, table.turn, action))


async def test_a_table_that_cannot_be_read_stops_no_other(database: Database) -> None:
    """An event that a newer program wrote stands in one table; the other table's hands start and end."""
    async with house_on(database.app_url) as house:
        odd = await house.table("anna", "boris", settings=QUICK)
        good = await house.table("vera", "gleb", settings=QUICK)
        head = await house.store.head(f"table-{odd}")
        assert head is not None
        newer = NewEvent("player_sang", 1, b"{}", (await house.store.read_stream(f"table-{odd}"))[-1].meta)
        stream = StreamAppend(f"table-{odd}", head.seq, head.hash, (newer,))
        assert isinstance(await house.store.append(Append(bytes(16), (stream,))), Appended)
    async with house_on(database.app_url) as house:
        async with stewarded(house, database):
            await until(house, good, lambda t: t.hand_no >= 1)
        with pytest.raises(Fault, match="event_unknown"):
            await house.state(odd)


async def test_a_store_that_is_away_for_a_while_is_waited_for(house: House, database: Database) -> None:
    """It ended with the first Fault of a group, and the process with it."""
    table_id = await house.table("anna", "boris", settings=QUICK)

    class Away(Beat):
        """Fails for as long as it is told to."""

        away = True

        async def note(self, at_ms: int) -> None:
            if self.away:
                raise Fault("store_unavailable", "the database system is in recovery mode")
            await super().note(at_ms)

    beat = Away(database.app_url)
    task = asyncio.create_task(Steward(house.store, house.play, beat, house.clock).run())
    await asyncio.sleep(0.5)
    assert not task.done()
    beat.away = False
    await until(house, table_id, lambda t: t.hand_no >= 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await beat.close()


async def test_t11_a_steward_whose_clock_is_off_acts_for_nobody_until_it_is_right(
    house: House, database: Database
) -> None:
    """It would act for all at once: by its clock every time is over."""
    table_id = await house.table("anna", "boris", settings=QUICK)
    looks = asyncio.Semaphore(0)

    class Off(SystemClock):
        off_ms = AHEAD_MS

        def now_ms(self) -> int:
            return super().now_ms() + self.off_ms

    class Looked(Beat):
        async def times(self) -> tuple[int, int | None]:
            looks.release()
            return await super().times()

    beat, clock = Looked(database.app_url), Off()
    task = asyncio.create_task(Steward(house.store, house.play, beat, clock).run())
    for _ in range(3):
        await looks.acquire()
    assert await beat.last_ms() is None
    assert running(await house.state(table_id)) is None
    clock.off_ms = 0
    await until(house, table_id, lambda t: t.hand_no >= 1)
    clock.off_ms = AHEAD_MS
    while looks.locked() is False:
        await looks.acquire()
    for _ in range(3):
        await looks.acquire()
    last_ms = await beat.last_ms()
    assert last_ms is not None
    assert last_ms < house.clock.now_ms() + AHEAD_MS / 2
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await beat.close()


async def test_a_mistake_of_ours_at_one_table_stops_no_other(
    house: House, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = await house.table("anna", "boris", settings=QUICK)
    good = await house.table("vera", "gleb", settings=QUICK)
    command = house.play.command

    async def mistaken(table_id: str, *given: Any, **named: Any) -> Any:
        assert table_id != odd, "ours"
        return await command(table_id, *given, **named)

    monkeypatch.setattr(house.play, "command", mistaken)
    async with stewarded(house, database):
        await until(house, good, lambda t: t.hand_no >= 1)


async def test_a_foreign_event_in_a_part_where_we_append_too_is_seen(house: House, database: Database) -> None:
    """It was taken for our own, where our append was told of before the look at the part's head was."""
    ours = await house.table("anna", "boris", settings=replace(SETTINGS, turn_ms=600_000))
    part = house.store.part_of(f"table-{ours}")
    async with house_on(database.app_url) as other:
        theirs = await other.table(settings=SETTINGS)
        while other.store.part_of(f"table-{theirs}") != part:
            theirs = await other.table(settings=SETTINGS)
        for player in ("vera", "gleb"):
            await other.account(player, 100_000)
        async with stewarded(house, database):
            await until(house, ours, lambda t: running(t) is not None)
            for player in ("vera", "gleb"):
                await asyncio.gather(
                    other.sit(theirs, player, 50_000),
                    *[house.do(ours, p, lambda at, _, p=p: SitOut(at_ms=at, player=p)) for p in ("anna", "boris")],  # type: ignore[misc]
                )
            await until(other, theirs, lambda t: running(t) is not None)


async def test_stewards_share_the_tables_and_take_over(database: Database) -> None:
    """Each looks after its own tables, and what one did that is gone without a word the other does soon after."""
    async with house_on(database.app_url) as one, house_on(database.app_url) as other, AsyncExitStack() as stack:
        sent: dict[str, set[str]] = {"one": set(), "other": set()}
        for name, house in (("one", one), ("other", other)):
            _note(house, sent[name])
        await _tables(one, "first")
        await stack.enter_async_context(stewarded(other, database))
        beat, leases = Beat(database.app_url), Leases(database.app_url)
        task = asyncio.create_task(Steward(one.store, one.play, beat, one.clock, leases).run())
        # Once both have had something to do they know what is whose.
        await eventually(lambda: bool(sent["one"] and sent["other"]))
        tables = await _tables(one, "second")
        await eventually(lambda: sent["one"] | sent["other"] >= tables)
        assert not sent["one"] & sent["other"] & tables
        task.cancel()  # and its leases are left to run out, as after kill -9
        await asyncio.gather(task, return_exceptions=True)
        tables = await _tables(one, "third")
        await eventually(lambda: sent["other"] >= tables)
        await leases.close()
        await beat.close()


async def _tables(house: House, name: str) -> set[str]:
    """So many tables that some fall to each of two; hands start, and the clock acts, for the first minute."""
    return {await house.table(f"{name}{n}a", f"{name}{n}b", settings=QUICK) for n in range(12)}


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(40):
        while not holds():  # noqa: ASYNC110  # nobody sets an event
            await asyncio.sleep(0.05)


def _note(house: House, sent: set[str]) -> None:
    """Have `sent` hold the tables that this house's steward has sent commands to."""
    command = house.play.command

    async def noted(table_id: str, request: Request, *given: Any, **named: Any) -> Any:
        if request.caller.subject == "steward":
            sent.add(table_id)
        return await command(table_id, request, *given, **named)

    house.play.command = noted  # type: ignore[method-assign]
