"""R5 on a real store: a parked stream is taken up as soon as its hand is corrected, and the books hold."""

from __future__ import annotations

import pytest

from domain.commands import HaltTable, Return, SitOut
from domain.events import HandCorrected
from domain.ledger import accounts
from projections.catalogue import PROJECTIONS
from projections.engine.applying import AGAIN_EVENTS
from projections.ledger import LEDGER, balances, entries_of_hand, mismatches, reconcile, trial_balance
from tests.domain.ledger.evenings import TABLE_ID, Evening
from tests.domain.ledger.test_correcting import correct, followed, met
from tests.projections.conftest import Bench, eventually
from tests.projections.world import commands

OURS = (LEDGER,)


async def test_r5_the_correction_heals_the_parked_stream_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 700, wrong_hands=2))
    evening._do(HaltTable(at_ms=evening.now, reason="the books differ", fault=True))
    book, _, _ = followed(evening.log)
    first, second = book.disputes
    before = len(evening.log)
    assert correct(evening, first, resumes=False)
    between = len(evening.log)
    assert correct(evening, second)
    async with bench.projecting(PROJECTIONS):
        await bench.world.append(evening.log[:before])
        await bench.caught_up(PROJECTIONS)
        (parked,) = await mismatches(bench.reader)
        assert parked.seq == first.mismatch.seq
        assert await entries_of_hand(bench.reader, first.hand_id) == ()
        reconciled = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
        assert [w.seq for w in reconciled.waiting] == [first.mismatch.seq]
        await bench.world.append(evening.log[before:between])
        await bench.caught_up(PROJECTIONS)
        assert len(await mismatches(bench.reader)) == 1
        await bench.world.append(evening.log[between:])

        async def healed() -> bool:
            return not await mismatches(bench.reader)

        # Well before parked streams are tried again by the clock.
        await eventually(healed, within_s=15)
        await bench.caught_up(PROJECTIONS)
    assert (await trial_balance(bench.reader)).zero
    reconciled = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
    assert reconciled.holds, reconciled
    _, expected, _ = followed(evening.log)
    found = await balances(bench.reader, expected)
    assert {b.account: b.balance for b in found if b.balance} == {a: m for a, m in expected.items() if m}
    assert accounts.bank(TABLE_ID) in {b.account for b in found}
    posted = await entries_of_hand(bench.reader, first.hand_id)
    assert {e.clause for e in posted} >= {"T9"}


async def test_r5_a_correction_that_comes_long_after_the_difference_heals_it_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parked stream was tried again with its next thousand events alone, and waited for ever."""
    evening = next(met(monkeypatch, 700))
    _busy(evening, AGAIN_EVENTS + 100)
    (dispute,) = followed(evening.log)[0].disputes
    assert correct(evening, dispute)
    await bench.world.append(evening.log[:-2])
    async with bench.projecting(OURS):
        await bench.caught_up(OURS)
        assert len(await mismatches(bench.reader)) == 1
        await bench.world.append(evening.log[-2:])

        async def healed() -> bool:
            return not await mismatches(bench.reader)

        await eventually(healed, within_s=15)
    assert any(isinstance(e.event, HandCorrected) for e in evening.log[-2:])
    assert len(list(commands(evening.log))) > AGAIN_EVENTS
    reconciled = await reconcile(bench.world.store, bench.world.codec.decode_public, bench.reader)
    assert reconciled.holds, reconciled


def _busy(evening: Evening, events: int) -> None:
    """So many events between hands: somebody sits out and comes back."""
    assert evening.table is not None
    player = evening.table.seats[0].player
    wanted = len(evening.log) + events
    while len(evening.log) < wanted:
        evening.now += 61_000
        if not evening._do(SitOut(at_ms=evening.now, player=player)):
            assert evening._do(Return(at_ms=evening.now, player=player))
