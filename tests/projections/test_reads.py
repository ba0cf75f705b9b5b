"""What the API reads: pages in a stable order, the same rows as the events say, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from domain.events import (
    BankReturned,
    HandSettled,
    HandStarted,
    HandVoided,
    PlayerLeft,
    PlayerSat,
    SeedDisclosed,
    TableOpened,
)
from projections.hands import HandRow, hand, hands_by_id
from projections.lobby import changed_tables, lobby_table, open_tables, tables_vector
from projections.paging import BadCursor, Page, cursor_of, values_of
from projections.players import results_of, tables_of
from projections.search import Wanted, search
from tests.domain.ledger.evenings import Entry
from tests.projections.conftest import Bench
from tests.projections.world import evening, event_of, halves, table_id

T = TypeVar("T")


async def all_of(page: Callable[[str | None], Awaitable[Page[T]]]) -> list[T]:
    """Every row, page by page."""
    rows: list[T] = []
    cursor: str | None = None
    while True:
        got = await page(cursor)
        rows += got.items
        cursor = got.next
        if cursor is None:
            return rows


async def test_the_lobby_lists_open_tables(bench: Bench) -> None:
    evenings = {
        seed: evening(seed, hands=1, close=seed % 3 != 0, game="frap" if seed % 2 else "khrap") for seed in range(1, 10)
    }
    await bench.world.append(*evenings.values())
    async with bench.projecting():
        await bench.caught_up()
    still_open = [table_id(seed) for seed in evenings if seed % 3 == 0]
    for limit in (1, 2, 3, 50):
        tables = await all_of(lambda cursor, limit=limit: open_tables(bench.reader, cursor=cursor, limit=limit))  # type: ignore[misc]
        assert [table.table_id for table in tables] == still_open
    frap = await open_tables(bench.reader, game="frap", with_room=True)
    assert [table.table_id for table in frap.items] == [table_id(3), table_id(9)]
    assert (await open_tables(bench.reader, currency="EUR")).items == ()
    first = await lobby_table(bench.reader, table_id(3))
    assert first is not None
    opened = event_of(evenings[3], TableOpened)
    assert isinstance(opened.event, TableOpened)
    assert (first.settings, first.opened_ms, first.hand_no) == (opened.event.settings, opened.at_ms, 1)
    seated = {e.event.player for e in evenings[3] if isinstance(e.event, PlayerSat)}
    gone = {e.event.player for e in evenings[3] if isinstance(e.event, PlayerLeft)}
    assert {seat.player for seat in first.seats} == seated - gone
    assert await lobby_table(bench.reader, table_id(99)) is None


async def test_what_changed_in_the_lobby_is_told_exactly_once(bench: Bench) -> None:
    """For a node without Redis: closed tables too, and nothing that did not change."""
    first, second = halves(evening(1, hands=2))
    await bench.world.append(first, evening(2, hands=1), evening(3, hands=1, close=False))
    async with bench.projecting():
        await bench.caught_up()
        vector = await tables_vector(bench.reader)
        tables, vector = await changed_tables(bench.reader, vector)
        assert tables == ()
        await bench.world.append(second)
        await bench.caught_up()
        tables, vector = await changed_tables(bench.reader, vector)
        assert [(table.table_id, table.closed) for table in tables] == [(table_id(1), True)]
        assert (await changed_tables(bench.reader, vector))[0] == ()
        everything, _ = await changed_tables(bench.reader, dict.fromkeys(vector, 0))
        assert {table.table_id for table in everything} == {table_id(1), table_id(2), table_id(3)}


async def test_hands_by_their_ids(bench: Bench) -> None:
    entries = evening(4, hands=7)
    await bench.world.append(entries, evening(5, hands=2))
    async with bench.projecting():
        await bench.caught_up()
    expected = _hands(entries)
    assert len(expected) == 7
    ids = [each["hand_id"] for each in expected]
    found = await hands_by_id(bench.reader, [ids[5], table_id(99), ids[0]])
    assert [_told(each) for each in found] == [expected[5], expected[0]]
    one = await hand(bench.reader, ids[2])
    assert one is not None
    assert _told(one) == expected[2]
    stored = await bench.world.store.read_stream(f"table-{table_id(4)}", one.first_seq - 1, 1)
    assert stored[0].type == "hand_started"
    assert await hand(bench.reader, table_id(99)) is None


async def test_a_running_hand_is_there_without_a_result(bench: Bench) -> None:
    entries = evening(6, hands=1)
    until = next(n for n, e in enumerate(entries) if isinstance(e.event, HandSettled | HandVoided))
    command = entries[until].command_id
    await bench.world.append([e for e in entries[:until] if e.command_id != command])
    async with bench.projecting():
        await bench.caught_up()
    started = event_of(entries, HandStarted).event
    assert isinstance(started, HandStarted)
    running = await hand(bench.reader, started.hand_id)
    assert running is not None
    assert (running.ending, running.ended_ms, running.last_seq, running.disclosed_to) == (None, None, None, None)
    assert {player.purse_after for player in running.players} == {None}
    assert (await search(bench.reader, Wanted())).items == ()
    table = await lobby_table(bench.reader, table_id(6))
    assert table is not None
    assert table.hand_id == running.hand_id


async def test_a_player_sees_where_he_sits_and_what_it_brought(bench: Bench) -> None:
    entries = evening(7, hands=6, close=False)
    closed = evening(8, hands=6)
    await bench.world.append(entries, closed)
    async with bench.projecting():
        await bench.caught_up()
    seats = {e.event.player: e.event.seat for e in entries if isinstance(e.event, PlayerSat)}
    gone = [e for e in entries if isinstance(e.event, PlayerLeft)]
    for player, seat in seats.items():
        last = max(e.seq for e in entries if isinstance(e.event, PlayerSat) and e.event.player == player)
        left = any(e.event.player == player and e.seq > last for e in gone if isinstance(e.event, PlayerLeft))
        tables = (await tables_of(bench.reader, player)).items
        assert [(t.table_id, t.seat) for t in tables] == ([] if left else [(table_id(7), seat)])
    for log in (entries, closed):
        for player, (hands, net) in _results(log).items():
            (result,) = await results_of(bench.reader, player)
            assert (result.currency, result.hands, result.net) == ("RUB", hands, net)
    # Of a closed table nothing is left: what players lost and did not win is commission, or went to other players.
    commission = sum(p.commission for e in closed if isinstance(e.event, HandSettled) for p in e.event.result.players)
    assert sum(net for _, net in _results(closed).values()) == -commission
    assert await results_of(bench.reader, "nobody") == ()


@pytest.mark.parametrize("text", ["", "x", "%%%", "bm9uZQ", cursor_of("a", 1), cursor_of(1), cursor_of(), "ü"])
def test_a_cursor_that_is_none_of_ours_is_refused(text: str) -> None:
    with pytest.raises(BadCursor):
        values_of(text, tuple[str])


def test_a_cursor_holds_what_was_put_in() -> None:
    for values in ((1,), ("a-ü", -5), (2**62, "x", None)):
        assert values_of(cursor_of(*values), tuple[Any, ...]) == values


def _hands(entries: list[Entry]) -> list[dict[str, Any]]:
    """What the hands of a table should be told as."""
    hands: list[dict[str, Any]] = []
    for entry in entries:
        event = entry.event
        match event:
            case HandStarted():
                seats = [s for s in event.table.seats if s.seat in event.dealt_in]
                hands.append(
                    {
                        "hand_id": event.hand_id,
                        "first_seq": entry.seq,
                        "started_ms": entry.at_ms,
                        "players": [(s.seat, s.player, s.purse) for s in seats],
                        "disclosed_to": None,
                    }
                )
            case HandSettled(result=result) | HandVoided(result=result):
                hands[-1] |= {
                    "ending": result.ending,
                    "last_seq": entry.seq,
                    "void": event.reason if isinstance(event, HandVoided) else None,
                    "results": [(p.status, p.tricks, p.share, p.fine_paid, p.purse) for p in result.players],
                }
            case SeedDisclosed(used=True):
                hands[-1]["disclosed_to"] = event.to
            case _:
                pass
    return hands


def _told(row: HandRow) -> dict[str, Any]:
    return {
        "hand_id": row.hand_id,
        "first_seq": row.first_seq,
        "started_ms": row.started_ms,
        "players": [(p.seat, p.player, p.purse_before) for p in row.players],
        "disclosed_to": row.disclosed_to,
        "ending": row.ending,
        "last_seq": row.last_seq,
        "void": row.void_reason,
        "results": [(p.status, p.tricks, p.share, p.fine_paid, p.purse_after) for p in row.players],
    }


def _results(entries: list[Entry]) -> dict[str, tuple[int, int]]:
    """Player → settled hands, net."""
    found: dict[str, tuple[int, int]] = {}
    dealt: dict[int, tuple[str, int]] = {}
    for entry in entries:
        match entry.event:
            case HandStarted(table=table, dealt_in=dealt_in):
                dealt = {s.seat: (s.player, s.purse) for s in table.seats if s.seat in dealt_in}
            case HandSettled(result=result):
                for p in result.players:
                    player, before = dealt[p.seat]
                    hands, net = found.get(player, (0, 0))
                    found[player] = (hands + 1, net + p.purse - before)
            case BankReturned(player=player, amount=amount):
                hands, net = found.get(player, (0, 0))
                found[player] = (hands, net + amount)
            case _:
                pass
    return found
