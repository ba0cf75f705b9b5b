"""R5: a hand that was settled wrongly is put right; the ledger takes the correction and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from domain.commands import CloseTable, CompleteClose, CompleteLeave, CorrectHand, HaltTable, Leave, StartHand
from domain.decide import decide
from domain.events import CardPlayed, DealtIn, HandCorrected, HandSettled, HandStarted, PlayerResult, TrickTaken
from domain.ledger import Book, Mismatch, TableBook, accounts, opening, post
from domain.ledger.books import HandDispute
from domain.money import MAX_AMOUNT
from domain.refusal import Refused
from domain.table import seat_of, start_due_ms
from tests.domain.ledger.evenings import TABLE_ID, TABLE_STREAM, Entry, Evening
from tests.domain.ledger.faults import FAULTS, Fault
from tests.domain.ledger.folding import Fold

NOT_OF_ENDED_HANDS = frozenset(
    {"ante dropped", "ante on a carried bank", "the bank to the first", "a leaver takes one more"}
)
"""Slips that show between hands, or at the start of one: nothing makes those good."""


def correction(evening: Evening, dispute: HandDispute, *, resumes: bool = True) -> CorrectHand:
    """The correction that the ledger reckons."""
    return CorrectHand(
        at_ms=evening.now,
        hand_id=dispute.hand_id,
        dispute_id="d",
        reviewers=("rita", "roman"),
        basis=dispute.basis,
        players=tuple(DealtIn(seat=s, player=p) for s, p in dispute.players),
        recorded=dispute.recorded,
        right=dispute.right,
        resumes=resumes,
    )


def correct(evening: Evening, dispute: HandDispute, *, resumes: bool = True) -> bool:
    """Have it recorded."""
    return evening._do(correction(evening, dispute, resumes=resumes))


def followed(log: list[Entry]) -> tuple[TableBook, Counter[str], Mismatch | None]:
    """The ledger over a log, followed onward as the projection does: the table's book, all balances, what is open."""
    books: dict[str, Book] = {}
    balances: Counter[str] = Counter()
    last: Mismatch | None = None
    for e in log:
        book = books.get(e.stream) or opening(e.stream)
        assert book is not None
        books[e.stream], outcome = post(book, e.event, e.seq, e.command_id)
        if e.stream == TABLE_STREAM and outcome is not None:
            last = outcome if isinstance(outcome, Mismatch) else None
        if outcome is not None and not isinstance(outcome, Mismatch):
            for p in outcome.entries:
                balances[p.debit] -= p.amount
                balances[p.credit] += p.amount
    table = books[TABLE_STREAM]
    assert isinstance(table, TableBook)
    return table, balances, last


def agree(evening: Evening, balances: Counter[str]) -> None:
    """The books hold what the table and the accounts say, sum to zero, and nothing is under way."""
    table = evening.table
    assert table is not None
    assert sum(balances.values()) == 0
    assert balances[accounts.bank(TABLE_ID)] == table.carried_bank
    for player in evening.players:
        seat = seat_of(table, player)
        assert balances[accounts.purse(TABLE_ID, player)] == (0 if seat is None else seat.purse), player
        assert balances[accounts.player(player)] == evening.accounts[player].balance, player
    assert all(amount == 0 for account, amount in balances.items() if accounts.kind(account) == "transit")


def off_by(patch: pytest.MonkeyPatch, amount: int, *, conjured: bool = False) -> Callable[[], None]:
    """Have settlement give the first who has a share `amount` more, out of the bank or, conjured, out of nothing."""
    from domain import consequences, settlement

    def wrong(hand: object) -> object:
        result = settlement.settle(hand)  # type: ignore[arg-type]
        lucky = next((p for p in result.players if p.share), None)
        if lucky is None:
            return result
        more = replace(lucky, share=lucky.share + amount, purse=lucky.purse + amount)
        carried = result.carried_bank if conjured else result.carried_bank - amount
        return replace(result, players=tuple(more if p is lucky else p for p in result.players), carried_bank=carried)

    patch.setattr(consequences, "settle", wrong)
    return lambda: patch.setattr(consequences, "settle", settlement.settle)


def met(patch: pytest.MonkeyPatch, amount: int, wrong_hands: int = 1, *, conjured: bool = False) -> Iterator[Evening]:
    """Evenings whose last `wrong_hands` hands were played with a wrong settlement, and at least one settled so."""
    for seed in range(60):
        evening = Evening(seed, "khrap", seats=3)
        evening.settings = replace(evening.settings, stake=2_000, entry_limit=20_000, commission_bps=400)
        evening.play(4, close=False)
        right = off_by(patch, amount, conjured=conjured)
        for _ in range(wrong_hands):
            evening._between()
            evening._hand()
        right()
        book, _, mismatch = followed(evening.log)
        if mismatch is not None and len(book.disputes) == wrong_hands:
            yield evening


@pytest.mark.parametrize("conjured", [False, True], ids=["from the bank", "from nothing"])
@pytest.mark.parametrize("amount", [1, -1, 700])
def test_r5_a_corrected_hand_is_as_if_it_had_been_settled_rightly(
    monkeypatch: pytest.MonkeyPatch, amount: int, conjured: bool
) -> None:
    evening = next(met(monkeypatch, amount, conjured=conjured))
    evening._do(HaltTable(at_ms=evening.now, reason="the books differ", fault=True))
    book, _, mismatch = followed(evening.log)
    assert mismatch is not None
    (dispute,) = book.disputes
    assert dispute.basis == "rules"
    assert not book.lost
    assert correct(evening, dispute)
    assert evening.table is not None
    assert evening.table.halt is None
    after, balances, open_ = followed(evening.log)
    assert open_ is None
    assert (after.disputes, after.held) == ((), ())
    agree(evening, balances)
    # Nothing is borne by the house: the purses had it.
    assert balances[accounts.COMPENSATION] == 0
    for _ in range(3):
        evening._between()
        evening._hand()
    _, balances, open_ = followed(evening.log)
    assert open_ is None
    agree(evening, balances)


def test_r5_two_wrong_hands_are_held_until_both_are_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 300, wrong_hands=2))
    book, before, _ = followed(evening.log)
    first, second = book.disputes
    assert correct(evening, second, resumes=False)
    book, balances, open_ = followed(evening.log)
    assert open_ == first.mismatch
    assert balances[accounts.bank(TABLE_ID)] == before[accounts.bank(TABLE_ID)]
    assert correct(evening, book.disputes[0])
    book, balances, open_ = followed(evening.log)
    assert (open_, book.held) == (None, ())
    agree(evening, balances)


def test_r5_who_has_gone_gets_his_due_on_the_account_and_the_house_bears_what_cannot_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for amount in (-900, 900):
        evening = next(e for e in met(monkeypatch, amount) if e.table and len(e.table.seats) == 3)
        book, _, _ = followed(evening.log)
        (dispute,) = book.disputes
        recorded = {p.seat: p.purse for p in dispute.recorded.players}
        seat, due = next(
            (p.seat, p.purse - recorded[p.seat]) for p in dispute.right.players if p.purse != recorded[p.seat]
        )
        player = dict(dispute.players)[seat]
        if not evening._do(Leave(at_ms=evening.now, player=player)):
            evening._do(CompleteLeave(at_ms=evening.now, player=player))
        assert evening.table is not None
        assert seat_of(evening.table, player) is None
        had = evening.accounts[player].balance
        assert correct(evening, dispute)
        _, balances, open_ = followed(evening.log)
        assert open_ is None
        agree(evening, balances)
        assert evening.accounts[player].balance == had + max(due, 0)
        assert balances[accounts.COMPENSATION] == min(due, 0)


def test_r5_where_the_record_leaves_the_rules_all_is_given_back() -> None:
    """A trick that goes to a wrong seat, who then leads: nobody can say how the hand would have gone on."""
    evening = Evening(3, "khrap", seats=3)
    evening.settings = replace(evening.settings, stake=2_000, entry_limit=20_000, commission_bps=400)
    log = evening.play(8, close=False)
    at = next(i for i, e in enumerate(log) if isinstance(e.event, TrickTaken) and e.event.trick == 1)
    trick = log[at].event
    assert isinstance(trick, TrickTaken)
    end = next(i for i in range(at, len(log)) if isinstance(log[i].event, HandSettled))
    settled = log[end].event
    assert isinstance(settled, HandSettled)
    started = next(e.event for e in reversed(log[:at]) if isinstance(e.event, HandStarted))
    wrong = next(s for s in started.dealt_in if s != trick.seat)
    led = log[at + 1].event
    assert isinstance(led, CardPlayed)
    changed = [
        *log[:at],
        replace(log[at], event=replace(trick, seat=wrong)),
        replace(log[at + 1], event=replace(led, seat=wrong)),
        *log[at + 2 : end + 1],
    ]
    book, _, mismatch = followed(changed)
    assert mismatch is not None
    assert mismatch.clause == "K16"
    (dispute,) = book.disputes
    assert dispute.basis == "returned"
    purses = {s.seat: s.purse for s in started.table.seats}
    assert dispute.right.players == tuple(
        PlayerResult(seat=s, status="passed", tricks=0, share=0, commission=0, fine_due=0, fine_paid=0, purse=purses[s])
        for s in started.dealt_in
    )
    assert (dispute.right.ending, dispute.right.carried_bank) == ("voided", started.table.carried_bank)


def test_r5_a_last_trick_to_a_wrong_seat_is_put_right_by_the_rules() -> None:
    def last_trick(seed: int) -> tuple[list[Entry], int] | None:
        evening = Evening(seed, "khrap", seats=3)
        evening.settings = replace(evening.settings, stake=2_000, entry_limit=20_000, commission_bps=400)
        log = evening.play(6, close=False)
        return next(
            ((log, i) for i, e in enumerate(log) if isinstance(e.event, TrickTaken) and e.event.trick == 4), None
        )

    log, at = next(found for seed in range(40) if (found := last_trick(seed)) is not None)
    trick = log[at].event
    assert isinstance(trick, TrickTaken)
    end = next(i for i in range(at, len(log)) if isinstance(log[i].event, HandSettled))
    settled = log[end].event
    assert isinstance(settled, HandSettled)
    wrong = next(p.seat for p in settled.result.players if p.seat != trick.seat)
    changed = [*log[:at], replace(log[at], event=replace(trick, seat=wrong)), *log[at + 1 : end + 1]]
    book, _, mismatch = followed(changed)
    assert mismatch is not None
    (dispute,) = book.disputes
    assert (dispute.basis, dispute.right) == ("rules", settled.result)


def test_r5_no_other_correction_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 500))
    book, _, mismatch = followed(evening.log)
    (dispute,) = book.disputes
    assert correct(evening, dispute)
    good = evening.log[-1].event if evening.log[-1].stream == TABLE_STREAM else evening.log[-2].event
    assert isinstance(good, HandCorrected)
    (mine,) = [p for p in good.players if p.due][:1]
    others = tuple(p for p in good.players if p is not mine)
    for bad in (
        replace(good, hand_id=evening._fresh().hand_id),
        replace(good, basis="returned"),
        replace(good, players=others),
        replace(good, players=(replace(mine, due=mine.due + 1, moved=mine.moved + 1), *others)),
        replace(good, players=(replace(mine, moved=mine.moved + 1), *others)),
        replace(good, players=(replace(mine, player="eve"), *others)),
        replace(good, players=(replace(mine, to="account"), *others)),
        replace(good, players=(*good.players, replace(mine, seat=7))),
        replace(good, bank_due=good.bank_due + 1),
        replace(good, bank_moved=good.bank_moved - 1),
        replace(good, commission_due=good.commission_due + 1),
        replace(good, resumes=False),
        replace(good, result=dispute.recorded),
    ):
        after, outcome = post(book, bad, 900, b"c" * 16)
        assert outcome == mismatch, bad
        assert isinstance(after, TableBook)
        assert after.lost
        # What no correction makes good stays so, also by the right one.
        assert post(after, good, 901, b"c" * 16) == (after, mismatch)


def test_r5_a_hand_that_is_not_in_dispute_cannot_be_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 500))
    book, _, _ = followed(evening.log)
    (dispute,) = book.disputes
    assert correct(evening, dispute)
    again = replace(dispute, recorded=dispute.right)
    book, _, _ = followed(evening.log)
    assert correct(evening, again)
    _, _, mismatch = followed(evening.log)
    assert mismatch is not None
    assert (mismatch.clause, mismatch.what) == ("R5", "the hand that is corrected")


def test_r5_a_hand_is_put_right_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 500))
    (dispute,) = followed(evening.log)[0].disputes
    assert correct(evening, dispute)
    assert evening.table is not None
    refused = decide(evening.table, replace(correction(evening, dispute), corrected=(dispute.hand_id,)))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.clause) == ("nothing_to_correct", "R5")


def test_r5_a_fold_that_stops_at_the_mismatch_posts_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 500))
    fold = Fold()
    for entry in evening.log:
        fold.add(entry)
    assert fold.mismatches[TABLE_STREAM].clause in ("T9", "T7", "T6", "K16")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.clauses[0]} {f.name}")
def test_r5_whatever_went_wrong_in_ended_hands_is_put_right(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """All games and slips: once every wrong hand is corrected, books, table and accounts agree to the last unit."""
    for seed in range(30):
        evening = Evening(seed, fault.game, seats=4, options=fault.options)
        evening.settings = replace(
            evening.settings, stake=fault.stake, entry_limit=fault.stake, commission_bps=fault.commission_bps
        )
        with monkeypatch.context() as planted:
            fault.plant(planted)
            try:
                evening.play(3, close=False)
            except (AssertionError, ValueError, IndexError):
                continue
        book, balances, mismatch = followed(evening.log)
        if mismatch is None or book.lost or not book.disputes or book.hand is not None:
            continue  # not met, or something else than a hand's end differs too
        while book.disputes:
            dispute = book.disputes[-1]
            assert correct(evening, dispute, resumes=len(book.disputes) == 1), seed
            book, balances, mismatch = followed(evening.log)
            assert not book.lost, seed
            assert dispute not in book.disputes
        assert mismatch is None, seed
        agree(evening, balances)
        return
    if fault.name not in NOT_OF_ENDED_HANDS:
        pytest.fail(f"{fault.name}: no hand was settled wrongly by it in 30 evenings")


@pytest.mark.parametrize("amount", [-900, 900], ids=["too little", "too much"])
def test_r5_a_table_that_has_closed_is_put_right_on_the_accounts(monkeypatch: pytest.MonkeyPatch, amount: int) -> None:
    """What the bank should have had goes to those who would have got it (T13)."""
    evening = next(e for e in met(monkeypatch, amount) if e.table and e.table.carried_bank >= 0)
    assert evening._do(CloseTable(at_ms=evening.now, reason="the evening is over"))
    assert evening._do(CompleteClose(at_ms=evening.now))
    book, _, _ = followed(evening.log)
    (dispute,) = book.disputes
    assert not book.lost
    before = sum(a.balance for a in evening.accounts.values())
    assert correct(evening, dispute)
    book, balances, open_ = followed(evening.log)
    assert open_ is None
    assert (book.bank, book.purses) == (0, ())
    agree(evening, balances)
    # Too little to a player lay in the bank, which was split; what was too much lies with whoever got it.
    assert balances[accounts.COMPENSATION] == -900
    assert sum(a.balance for a in evening.accounts.values()) == before + 900


def test_r5_a_correction_waits_for_the_end_of_a_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = next(met(monkeypatch, 500))
    (dispute,) = followed(evening.log)[0].disputes
    evening._between()
    assert evening.table is not None
    due = start_due_ms(evening.table)
    assert due is not None
    evening.now = max(evening.now, due)
    assert evening._do(StartHand(at_ms=evening.now))
    refused = decide(evening.table, correction(evening, dispute))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.clause) == ("in_hand", "R5")


def test_r5_what_left_the_table_below_zero_is_beyond_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank below zero was split: accounts were charged, which no correction of a hand makes good."""
    evening = next(e for e in met(monkeypatch, 900) if e.table and e.table.carried_bank < 0)
    (dispute,) = followed(evening.log)[0].disputes
    assert evening._do(CloseTable(at_ms=evening.now, reason="the evening is over"))
    assert evening._do(CompleteClose(at_ms=evening.now))
    book, _, mismatch = followed(evening.log)
    assert book.lost
    assert mismatch == dispute.mismatch


@pytest.mark.parametrize("what", ["a player too few", "seats in another order", "another hand's", "a purse past T1"])
def test_r5_a_result_that_no_hand_can_have_is_beyond_correction(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    evening = next(met(monkeypatch, 1))
    at = max(n for n, e in enumerate(evening.log) if isinstance(e.event, HandSettled))
    settled = evening.log[at].event
    assert isinstance(settled, HandSettled)
    result, players = settled.result, settled.result.players
    event = {
        "a player too few": replace(settled, result=replace(result, players=players[:-1])),
        "seats in another order": replace(settled, result=replace(result, players=players[::-1])),
        "another hand's": replace(settled, hand_id=TABLE_ID),
        "a purse past T1": replace(
            settled, result=replace(result, players=(replace(players[0], purse=MAX_AMOUNT + 1), *players[1:]))
        ),
    }[what]
    right, _, _ = followed(evening.log[: at + 1])
    assert not right.lost
    book, balances, mismatch = followed([*evening.log[:at], replace(evening.log[at], event=event)])
    assert book.lost
    assert book.disputes == ()
    assert mismatch == right.disputes[0].mismatch
    assert sum(balances.values()) == 0
    # Nothing that comes later makes it good.
    evening._do(CloseTable(at_ms=evening.now, reason="the evening is over"))
    later, after, still = followed([*evening.log[:at], replace(evening.log[at], event=event), *evening.log[at + 1 :]])
    assert (later.lost, still) == (True, mismatch)
    assert {account: after[account] for account in balances} == balances
