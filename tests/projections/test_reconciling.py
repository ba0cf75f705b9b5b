"""The books beside a fresh fold where the log holds what this code cannot read: the stream waits in both, alike."""

from __future__ import annotations

import pytest

from infra.meta import Meta, encode_meta
from infra.store import NewEvent
from projections.ledger import LEDGER
from projections.ledger.reconciling import reconcile
from tests.projections.conftest import Bench
from tests.projections.world import evening, halves, table_id

STREAM = f"table-{table_id(1)}"
META = encode_meta(Meta(1_700_000_000_000, "steward", "steward", "steward", "00" * 32))


@pytest.mark.parametrize(
    ("unread", "why"),
    [
        (NewEvent("chips_counted", 1, b'{"type":"chips_counted","chips":3}', META), "'chips_counted' version 1"),
        (NewEvent("player_sat", 9, b'{"type":"player_sat"}', META), "'player_sat' version 9"),
        (NewEvent("player_sat", 1, b'{"type":"player_sat"', META), "cannot be read: "),
    ],
    ids=["a type of a later release", "a version of a later release", "a damaged body"],
)
async def test_a_stream_that_cannot_be_read_on_waits_and_nothing_differs(
    bench: Bench, unread: NewEvent, why: str
) -> None:
    first, second = halves(evening(1))
    await bench.world.append(first, evening(2))
    await bench.world.new(b"\7" * 16, {STREAM: [unread]})
    at = bench.world.heads[STREAM][0]
    await bench.world.append([entry for entry in second if entry.stream == STREAM])
    async with bench.projecting((LEDGER,)):
        await bench.caught_up((LEDGER,))
    (parked,) = await bench.reader.parked("ledger")
    found = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
    assert (parked.stream, parked.seq) == (STREAM, at)
    assert [(each.stream, each.seq) for each in found.waiting] == [(STREAM, at)]
    assert why in found.waiting[0].reason
    assert [each for each in found.differences if each.what != "transit"] == []
    assert not found.holds
