"""Faults planted into the rest of the domain: the ledger finds each, names its clause, posts nothing of that hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.events import BoughtIn, Deposited, FourAcesShown, HandSettled, HandStarted, HandVoided, PlayerSat
from domain.ledger import Mismatch, Posting, Postings, TableBook, accounts, opening, post
from domain.ledger.books import Purse
from tests.domain.ledger.evenings import TABLE_STREAM, Entry, Evening, evening, table_only
from tests.domain.ledger.faults import FAULTS, Fault
from tests.domain.ledger.folding import Fold, first_mismatch

EVENINGS = 60
COMMAND = b"c" * 16


def _evening(fault: Fault, seed: int, patch: pytest.MonkeyPatch) -> list[Entry]:
    played = Evening(seed, fault.game, seats=4, options=fault.options)
    played.settings = replace(
        played.settings, stake=fault.stake, entry_limit=fault.stake, commission_bps=fault.commission_bps
    )
    with patch.context() as planted:
        fault.plant(planted)
        # A fault may carry the play where the rules never go. What was recorded until then is what the ledger gets.
        try:
            return played.play(10)
        except (AssertionError, ValueError, IndexError):
            return played.log


def _met(fault: Fault, patch: pytest.MonkeyPatch) -> tuple[list[Entry], Fold, Mismatch]:
    """The first evening in which the fault shows."""
    for seed in range(EVENINGS):
        log = _evening(fault, seed, patch)
        fold, mismatch = first_mismatch(log)
        if mismatch is not None:
            return log, fold, mismatch
    pytest.fail(f"{fault.name}: not met in {EVENINGS} evenings")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.clauses[0]} {f.name}")
def test_a_planted_fault_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    _, fold, mismatch = _met(fault, monkeypatch)
    assert mismatch.clause in fault.clauses, mismatch
    assert mismatch.recorded != mismatch.reckoned
    assert mismatch.stream == TABLE_STREAM
    assert not mismatch.hand_id or mismatch.hand_id not in {p.hand_id for p in fold.postings}


@pytest.mark.parametrize("fault", FAULTS[:3], ids=lambda f: f.name)
def test_nothing_more_is_posted_for_a_stream_that_differs(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    log, fold, mismatch = _met(fault, monkeypatch)
    book = fold.books[TABLE_STREAM]
    for entry in table_only(log):
        if entry.seq < mismatch.seq:
            continue
        book, outcome = post(book, entry.event, entry.seq, entry.command_id)
        assert outcome in (None, mismatch), outcome
        if isinstance(entry.event, HandSettled | HandStarted) and entry.seq > mismatch.seq:
            assert outcome == mismatch


def _voided_by_ops() -> tuple[TableBook, HandVoided]:
    """The book in a running hand, and how ops voided it."""
    for seed in range(EVENINGS):
        log = table_only(evening(seed, "khrap"))
        for end, entry in enumerate(log):
            if isinstance(entry.event, HandVoided) and entry.event.cause == "ops":
                fold, _ = first_mismatch(log[:end])
                book = fold.books[TABLE_STREAM]
                assert isinstance(book, TableBook)
                return book, entry.event
    pytest.fail(f"no hand was voided by ops in {EVENINGS} evenings")


def test_t12_a_disputed_hand_that_ops_void_is_posted_with_all_that_waited() -> None:
    """The alarm lets ops void the hand; its money goes back, and the books go on as if nothing had been."""
    book, voided = _voided_by_ops()
    assert book.hand is not None
    wrong = FourAcesShown(seat=book.hand.dealer, cards=())
    disputed, mismatch = post(book, wrong, 900, COMMAND)
    assert isinstance(mismatch, Mismatch)
    assert post(disputed, wrong, 901, COMMAND) == (disputed, mismatch)
    waiting, outcome = post(disputed, PlayerSat(seat=11, player="late", buy_in=50), 902, COMMAND)
    assert outcome == mismatch
    healed, posted = post(waiting, voided, 903, COMMAND)
    assert isinstance(posted, Postings)
    assert healed == replace(book, hand=None, purses=(*book.purses, Purse(11, "late", 50)))
    assert sum(p.amount for p in posted.entries if p.clause == "T12") == sum(r.amount for r in voided.returned)
    assert [p for p in posted.entries if p.clause == "T2"] == [
        Posting(accounts.transit(COMMAND), accounts.purse(book.table, "late"), 50, "T2", 902)
    ]


def test_t2_an_account_is_balanced_by_its_own_postings() -> None:
    log = [e for e in evening(1, "khrap") if e.stream == "account-p0-RUB"]
    for wrong in (i for i, e in enumerate(log) if isinstance(e.event, Deposited | BoughtIn)):
        book = opening("account-p0-RUB")
        assert book is not None
        for entry in log[:wrong]:
            book, outcome = post(book, entry.event, entry.seq, entry.command_id)
            assert not isinstance(outcome, Mismatch)
        event = log[wrong].event
        assert isinstance(event, Deposited | BoughtIn)
        after, outcome = post(book, replace(event, balance=event.balance + 1), wrong + 1, COMMAND)
        assert isinstance(outcome, Mismatch)
        assert (after, outcome.clause, outcome.recorded, outcome.reckoned) == (
            book,
            "T2",
            event.balance + 1,
            event.balance,
        )
