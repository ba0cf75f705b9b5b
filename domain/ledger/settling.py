"""A finished hand reckoned a second time, and its payments compared one by one. Source: T6 to T10, K13, K17, F6, C5."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from domain.events import CommissionTaken, Ending, FinePaid, PlayerResult, Result, SharePaid
from domain.ledger import accounts
from domain.ledger.books import DECLINED, PASSED, HandBook, Paying, Speaking, TableBook
from domain.ledger.laws import Duty, Law, law_of
from domain.ledger.postings import Differs, Posting, expect
from domain.money import BPS


def paying(book: TableBook, hand: HandBook, ending: Ending) -> HandBook:
    """The hand once all tricks have an owner: reckoned, waiting for its payments to be recorded."""
    return replace(hand, phase=Paying(_reckon(book, hand, ending)))


def _bank(book: TableBook, hand: HandBook) -> int:
    """T6: B, by the ledger's own postings."""
    account = accounts.bank(book.table)
    return hand.carried + sum(p.amount for p in hand.postings if p.credit == account)


def _reckon(book: TableBook, hand: HandBook, ending: Ending) -> Result:
    """T7 to T10: the share first, of it the commission of who is not fined, then the fine, up to what is there."""
    settings, law = book.settings, law_of(book.settings)
    bank = _bank(book, hand)
    ace_turned = hand.trump_card is not None and hand.trump_card[0] == "A"
    shares = law.shares(bank, tuple([p.tricks for p in hand.players]), hand.circle)
    players, carried = [], bank
    for p, share in zip(hand.players, shares, strict=True):
        due = 0
        if p.in_play:
            duty = Duty(p.status, p.seat == hand.declarer, p.tricks, settings.options, ace_turned)
            due = law.fine(duty) * bank
        commission = share * settings.commission_bps // BPS if share > settings.stake and not due else 0
        purse = p.purse + share - commission
        paid = min(due, purse)
        carried += paid - share
        players.append(
            PlayerResult(
                seat=p.seat,
                status=p.status,
                tricks=p.tricks,
                share=share,
                commission=commission,
                fine_due=due,
                fine_paid=paid,
                purse=purse - paid,
            )
        )
    return Result(
        ending=ending,
        bank=bank,
        carried_bank=carried,
        next_dealer=_next_dealer(law, hand),
        players=tuple(players),
    )


def _next_dealer(law: Law, hand: HandBook) -> int:
    """K18, F12, C7."""
    if law.declarer_deals:
        assert hand.declarer is not None
        return hand.declarer
    seats = [p.seat for p in hand.players]
    return seats[(seats.index(hand.dealer) + 1) % len(seats)]


def with_result(book: TableBook, hand: HandBook) -> HandBook:
    """K13, F6: the hand at its first payment; one that is not reckoned yet must be uncontested."""
    phase = hand.phase
    if isinstance(phase, Paying):
        return hand
    law = law_of(book.settings)
    if not isinstance(phase, Speaking) or hand.declarer is None:
        raise Differs(law.clauses["lead"], "the end of the hand", "now", "after the last trick")
    for p in hand.players:
        if p.seat != hand.declarer and p.status != PASSED:
            clause = law.clauses["cut" if p.status in ("", DECLINED) else "alone"]
            raise Differs(clause, f"the standing of seat {p.seat}", PASSED, p.status)
    players = tuple([replace(p, tricks=law.tricks) if p.seat == hand.declarer else p for p in hand.players])
    return paying(book, replace(hand, players=players), "uncontested")


def share_paid(book: TableBook, hand: HandBook, event: SharePaid, seq: int) -> HandBook:
    """T9, C5."""
    hand = with_result(book, hand)
    clause = law_of(book.settings).clauses["share"]
    due, table = _due(hand, "share", event.seat, clause, event.amount), book.table
    expect("K16", f"the tricks of seat {event.seat}", event.tricks, due.tricks)
    expect(clause, f"the share of seat {event.seat}", event.amount, due.share)
    purse = accounts.purse(table, _name(hand, event.seat))
    return _paid(hand, "share", event.seat, Posting(accounts.bank(table), purse, due.share, clause, seq, hand.hand_id))


def commission_taken(book: TableBook, hand: HandBook, event: CommissionTaken, seq: int) -> HandBook:
    """T10."""
    hand = with_result(book, hand)
    due = _due(hand, "commission", event.seat, "T10", event.amount)
    expect("T10", f"the commission of seat {event.seat}", event.amount, due.commission)
    expect("T10", f"the share that the commission of seat {event.seat} is on", event.share, due.share)
    purse = accounts.purse(book.table, _name(hand, event.seat))
    posting = Posting(purse, accounts.COMMISSION, due.commission, "T10", seq, hand.hand_id)
    return _paid(hand, "commission", event.seat, posting)


def fine_paid(book: TableBook, hand: HandBook, event: FinePaid, seq: int) -> HandBook:
    """T7, T8."""
    hand = with_result(book, hand)
    due = _due(hand, "fine", event.seat, "T7", event.due)
    clause = fine_clause(book, hand, due)
    expect(clause, f"the fine due from seat {event.seat}", event.due, due.fine_due)
    expect("T7", f"the fine paid by seat {event.seat}", event.paid, due.fine_paid)
    purse = accounts.purse(book.table, _name(hand, event.seat))
    posting = Posting(purse, accounts.bank(book.table), due.fine_paid, clause, seq, hand.hand_id)
    return _paid(hand, "fine", event.seat, posting)


def payments(book: TableBook, hand: HandBook, seq: int) -> tuple[Posting, ...]:
    """The postings that a reckoned hand comes to, whatever of them is recorded. T7 to T10."""
    phase = hand.phase
    assert isinstance(phase, Paying)
    clause, bank = law_of(book.settings).clauses["share"], accounts.bank(book.table)
    postings = []
    for p in phase.result.players:
        purse = accounts.purse(book.table, _name(hand, p.seat))
        postings += [
            Posting(bank, purse, p.share, clause, seq, hand.hand_id),
            Posting(purse, accounts.COMMISSION, p.commission, "T10", seq, hand.hand_id),
            Posting(purse, bank, p.fine_paid, fine_clause(book, hand, p), seq, hand.hand_id),
        ]
    return tuple([p for p in postings if p.amount])


def unpaid(hand: HandBook) -> HandBook:
    """The hand without the payments that were recorded of it."""
    phase = hand.phase
    if not isinstance(phase, Paying):
        return hand
    amounts: dict[str, int] = {}
    for p in phase.result.players:
        amounts |= {f"share {p.seat}": p.share, f"commission {p.seat}": p.commission, f"fine {p.seat}": p.fine_paid}
    paid = len([payment for payment in phase.paid if amounts[payment]])
    return replace(hand, postings=hand.postings[: len(hand.postings) - paid], phase=Paying(phase.result))


Payment = Literal["share", "commission", "fine"]


def _due(hand: HandBook, payment: Payment, seat: int, clause: str, recorded: int) -> PlayerResult:
    phase = hand.phase
    assert isinstance(phase, Paying)
    due = next((p for p in phase.result.players if p.seat == seat), None)
    if due is None or f"{payment} {seat}" in phase.paid:
        raise Differs(clause, f"another {payment} of seat {seat}", recorded, None)
    return due


def _name(hand: HandBook, seat: int) -> str:
    return next(p.player for p in hand.players if p.seat == seat)


def _paid(hand: HandBook, payment: Payment, seat: int, posting: Posting) -> HandBook:
    phase = hand.phase
    assert isinstance(phase, Paying)
    postings = (*hand.postings, posting) if posting.amount else hand.postings
    return replace(hand, postings=postings, phase=Paying(phase.result, (*phase.paid, f"{payment} {seat}")))


def fine_clause(book: TableBook, hand: HandBook, due: PlayerResult) -> str:
    """The clause that the fine of a player rests on, T8 where the bank is zero."""
    phase = hand.phase
    assert isinstance(phase, Paying)
    clauses = law_of(book.settings).clauses
    if phase.result.bank == 0:
        return "T8"
    return clauses["blind"] if due.status == "frap_blind" else clauses["fine"]
