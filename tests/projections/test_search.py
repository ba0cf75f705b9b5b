"""The search finds every hand that is over and wanted, once, the last to end first, whatever the page."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from msgspec import Struct

from domain.events import HandSettled, HandStarted, HandVoided, Result
from projections.paging import BadCursor, cursor_of
from projections.search import FLAGS, Wanted, search
from tests.domain.ledger.evenings import Entry
from tests.projections.conftest import Bench
from tests.projections.test_reads import all_of
from tests.projections.world import evening, table_id

LOG = {seed: evening(seed, hands=6, game="frap" if seed % 3 == 0 else "khrap") for seed in range(1, 8)}


class Known(Struct, frozen=True):
    """A hand as the events say."""

    hand_id: str
    table_id: str
    ended_ms: int
    players: frozenset[str]
    result: Result
    by_ops: bool


def known(seed: int, entries: list[Entry]) -> list[Known]:
    """The hands of an evening that are over."""
    found = []
    players: frozenset[str] = frozenset()
    for entry in entries:
        match entry.event:
            case HandStarted(dealt_in=dealt_in, table=table):
                players = frozenset(s.player for s in table.seats if s.seat in dealt_in)
            case HandSettled(hand_id=hand_id, result=result):
                found.append(Known(hand_id, table_id(seed), entry.at_ms, players, result, False))
            case HandVoided(hand_id=hand_id, result=result, cause=cause):
                found.append(Known(hand_id, table_id(seed), entry.at_ms, players, result, cause == "ops"))
            case _:
                pass
    return found


def has(hand: Known, flag: str | None) -> bool:
    """Whether a hand is to be found by a flag, told from its result."""
    statuses = {p.status for p in hand.result.players}
    match flag:
        case None:
            return True
        case "voided" | "four_aces" | "uncontested":
            return hand.result.ending == flag
        case "voided_by_ops":
            return hand.by_ops
        case "fined":
            return any(p.fine_due > 0 for p in hand.result.players)
        case "fine_capped":
            return any(p.fine_due != p.fine_paid for p in hand.result.players)
        case "helicopter":
            return "helicopter" in statuses
        case "blind":
            return "frap_blind" in statuses
        case "redrawn":
            return bool(statuses & {"pyatok", "shestok"})
        case _:
            raise AssertionError(flag)


async def test_what_is_wanted_is_found_by_every_way_in(bench: Bench) -> None:
    await bench.world.append(*LOG.values())
    async with bench.projecting():
        await bench.caught_up()
    hands = [each for seed, entries in LOG.items() for each in known(seed, entries)]
    assert len(hands) > 30
    hands.sort(key=lambda h: (h.ended_ms, h.hand_id), reverse=True)
    times, banks = sorted(h.ended_ms for h in hands), sorted(h.result.bank for h in hands)
    spans: list[dict[str, int]] = [{}, {"from_ms": times[4], "to_ms": times[-4]}]
    amounts: list[dict[str, int]] = [{}, {"min_bank": banks[6], "max_bank": banks[-6]}]
    ways: list[dict[str, Any]] = [{}, {"player": min(hands[7].players)}, {"table_id": table_id(3)}]
    ways.append({"player": min(known(2, LOG[2])[0].players), "table_id": table_id(2)})
    found_any = set()
    for way, span, amount, flag in itertools.product(ways, spans, amounts, (None, *FLAGS)):
        wanted = Wanted(flag=flag, **way, **span, **amount)
        expected = [
            h.hand_id
            for h in hands
            if wanted.from_ms <= h.ended_ms < wanted.to_ms
            and wanted.min_bank <= h.result.bank <= wanted.max_bank
            and (wanted.player is None or wanted.player in h.players)
            and wanted.table_id in (None, h.table_id)
            and has(h, flag)
        ]
        assert list((await search(bench.reader, wanted, limit=200)).items) == expected, wanted
        found_any |= {flag} if expected else set()
    assert found_any >= {None, "fined", "uncontested", "redrawn"}
    for limit in (1, 7):
        paged = await all_of(lambda cursor, limit=limit: search(bench.reader, Wanted(), cursor=cursor, limit=limit))  # type: ignore[misc]
        assert paged == [h.hand_id for h in hands]
    with pytest.raises(BadCursor):
        await search(bench.reader, Wanted(), cursor=cursor_of("x"))
