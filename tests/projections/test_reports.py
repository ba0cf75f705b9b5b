"""The reports on a real store, against what the log itself says: commission, capped fines, carried banks, voids."""

from __future__ import annotations

from collections import Counter

import pytest

from domain.events import CommissionTaken, FinePaid, HandSettled, HandStarted, HandVoided
from domain.options import GameName
from projections.hands import HANDS
from projections.hands.partners import partners
from projections.ledger import LEDGER
from projections.paging import BadCursor
from projections.reports import capped_fines, carried_banks, commission, voided_hands
from tests.domain.ledger.evenings import Entry
from tests.projections.conftest import Bench
from tests.projections.world import evening, table_id

OURS = (LEDGER, HANDS)
DAY_MS = 86_400_000


async def _evenings(bench: Bench) -> list[Entry]:
    games: tuple[GameName, ...] = ("khrap", "frap")
    made = [evening(seed, hands=8, game=game, close=seed % 2 == 0) for seed, game in enumerate(games * 6)]
    await bench.world.append(*made)
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    return [entry for each in made for entry in each]


async def test_the_reports_are_what_the_log_says(bench: Bench) -> None:
    log = await _evenings(bench)
    # T10: by day and table
    taken: Counter[tuple[int, str]] = Counter()
    open_: list[Entry] = []
    for entry in log:
        if isinstance(entry.event, CommissionTaken):
            open_.append(entry)
        elif isinstance(entry.event, HandSettled):
            for one in open_:
                assert isinstance(one.event, CommissionTaken)
                taken[entry.at_ms // DAY_MS, entry.stream] += one.event.amount
            open_ = []
    rows = (await commission(bench.reader)).items
    assert {(r.day, r.stream): r.amount for r in rows} == dict(taken)
    assert len(taken) > 2
    assert [(r.day, r.stream) for r in rows] == sorted(taken)
    assert all(r.table_id == r.stream.removeprefix("table-") for r in rows)
    # T7: due is not paid
    capped = [(e.event.due, e.event.paid) for e in log if isinstance(e.event, FinePaid) and e.event.due > e.event.paid]
    fines = (await capped_fines(bench.reader)).items
    assert sorted((f.due, f.paid) for f in fines) == sorted(capped)
    assert capped
    # T12
    voided = {e.event.hand_id: (e.event.cause, e.event.reason) for e in log if isinstance(e.event, HandVoided)}
    voids = (await voided_hands(bench.reader)).items
    assert {v.hand_id: (v.cause, v.reason) for v in voids} == voided
    assert voided
    # T6: what the last hand of an open table left
    banks = {b.table_id: b.amount for b in (await carried_banks(bench.reader)).items}
    carried: dict[str, int] = {}
    for entry in log:
        if isinstance(entry.event, HandSettled | HandVoided):
            carried[entry.stream] = entry.event.result.carried_bank
    assert set(banks) <= {stream.removeprefix("table-") for stream in carried}
    for seed in range(0, 12, 2):
        assert table_id(seed) not in banks, "a closed table carries nothing"
    assert banks


async def test_each_report_runs_page_by_page_and_by_period(bench: Bench) -> None:
    await _evenings(bench)
    for read in (commission, capped_fines, voided_hands):
        whole = await read(bench.reader)
        assert whole.next is None
        found: list[object] = []
        cursor = None
        while True:
            page = await read(bench.reader, cursor=cursor, limit=1)
            found += page.items
            cursor = page.next
            if cursor is None:
                break
        assert tuple(found) == tuple(whole.items)
        assert (await read(bench.reader, to_ms=1)).items == ()
        with pytest.raises(BadCursor):
            await read(bench.reader, cursor="what?")
    moments = [v.ended_ms for v in (await voided_hands(bench.reader)).items]
    middle = moments[len(moments) // 2]
    before = (await voided_hands(bench.reader, to_ms=middle)).items
    after = (await voided_hands(bench.reader, from_ms=middle)).items
    assert [v.ended_ms for v in (*before, *after)] == moments
    one = await carried_banks(bench.reader, limit=1)
    assert one.next is not None
    assert (await carried_banks(bench.reader, cursor=one.next)).items == (await carried_banks(bench.reader)).items[1:]


async def test_r2_partners_are_who_was_dealt_into_a_hand_with_him(bench: Bench) -> None:
    log = evening(21, hands=6)
    await bench.world.append(log, evening(22, hands=3))
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
    started = [(e.at_ms, e.event) for e in log if isinstance(e.event, HandStarted)]
    at_ms, first = started[0]
    players = [s.player for s in first.table.seats if s.seat in first.dealt_in]
    me, other = players[:2]
    everybody = {f"e{seed}p{n}" for seed in (21, 22) for n in range(12)}
    later = started[-1][0]
    met = {
        s.player
        for _, e in started
        if me in {s.player for s in e.table.seats if s.seat in e.dealt_in}
        for s in e.table.seats
        if s.seat in e.dealt_in
    } - {me}
    assert set(await partners(bench.reader, me, everybody, 0, later)) == met
    assert await partners(bench.reader, me, [other], at_ms, at_ms) == (other,)
    assert await partners(bench.reader, me, [other], 0, at_ms - 1) == ()
    assert await partners(bench.reader, me, [me], 0, later) == ()
