"""The end of a hand: the recorded result against the reckoned one; its postings released. Source: T6 to T10, T12, N."""

from __future__ import annotations

from msgspec.structs import replace

from domain.events import HandSettled, HandVoided, PlayerResult, Result
from domain.ledger import accounts
from domain.ledger.books import PASSED, Awaiting, Dealt, HandBook, Paying, Purse, TableBook
from domain.ledger.laws import law_of
from domain.ledger.postings import Differs, Posting, Postings, expect
from domain.ledger.settling import fine_clause, with_result
from domain.money import MAX_AMOUNT


def settled(book: TableBook, hand: HandBook, event: HandSettled, seq: int) -> tuple[TableBook, Postings]:
    """All payments are there, the recorded result is the reckoned one field by field, and the laws hold."""
    expect("S2", "the hand that is settled", event.hand_id, hand.hand_id)
    hand = with_result(book, hand)
    phase = hand.phase
    assert isinstance(phase, Paying)
    reckoned, clauses = phase.result, law_of(book.settings).clauses
    for p in reckoned.players:
        if p.share and f"share {p.seat}" not in phase.paid:
            raise Differs(clauses["share"], f"the share of seat {p.seat}", None, p.share)
        if p.commission and f"commission {p.seat}" not in phase.paid:
            raise Differs("T10", f"the commission of seat {p.seat}", None, p.commission)
        if p.fine_due and f"fine {p.seat}" not in phase.paid:
            raise Differs(fine_clause(book, hand, p), f"the fine of seat {p.seat}", None, p.fine_due)
    if event.result != reckoned:
        _name_what_differs(book, hand, event.result, reckoned)
    return _released(book, hand, reckoned, tuple((p.seat, p.player) for p in hand.players))


def _name_what_differs(book: TableBook, hand: HandBook, was: Result, reckoned: Result) -> None:
    """Raises Differs at the first field of the result that differs, by the clause that it rests on."""
    clauses = law_of(book.settings).clauses
    ending = {"played": clauses["lead"], "four_aces": "K12", "uncontested": clauses["alone"]}[reckoned.ending]
    carried = "T8" if not reckoned.carried_bank else "T7" if any(p.fine_paid for p in reckoned.players) else "T9"
    fines = {p.seat: fine_clause(book, hand, p) for p in reckoned.players}
    _compare_tables(was, reckoned, ending, "T6", carried, clauses["dealer"])
    for recorded, due in zip(was.players, reckoned.players, strict=True):
        _compare_players(recorded, due, clauses["word"], clauses["share"], fines[due.seat])


def voided(book: TableBook, hand: HandBook, event: HandVoided, seq: int) -> tuple[TableBook, Postings]:
    """T12: what was put into the bank goes back, and all is as before."""
    expect("S2", "the hand that is voided", event.hand_id, hand.hand_id)
    if event.cause == "no_declarer" and not (isinstance(hand.phase, Awaiting) and hand.phase.next == "void"):
        raise Differs("T12", "the end of the hand", "voided for want of a declarer", None)
    reckoned, postings = given_back(book, hand, seq)
    recorded = {r.seat: r.amount for r in event.returned}
    back = {p.credit: p.amount for p in postings}
    for p in hand.players:
        due = back.get(accounts.purse(book.table, p.player), 0)
        expect("T12", f"what goes back to seat {p.seat}", recorded.pop(p.seat, 0), due)
    for seat, amount in recorded.items():
        raise Differs("T12", f"what goes back to seat {seat}", amount, None)
    _compare_tables(event.result, reckoned, "T12", "T12", "T12", "T12")
    for was, due_result in zip(event.result.players, reckoned.players, strict=True):
        _compare_players(was, due_result, "T12", "T12", "T12")
    return _released(book, replace(hand, postings=(*hand.postings, *postings)), reckoned, book.last_dealt_in)


def given_back(book: TableBook, hand: HandBook, seq: int) -> tuple[Result, tuple[Posting, ...]]:
    """T12: the result of a hand that comes to nothing, and the postings that give back what was put into the bank."""
    bank = accounts.bank(book.table)
    players, postings = [], []
    for p in hand.players:
        account = accounts.purse(book.table, p.player)
        put_in = sum(e.amount for e in hand.postings if e.debit == account and e.credit == bank)
        if put_in:
            postings.append(Posting(bank, account, put_in, "T12", seq, hand.hand_id))
        players.append(_as_before(p, put_in))
    reckoned = Result(
        ending="voided",
        bank=hand.carried,
        carried_bank=hand.carried,
        next_dealer=hand.dealer,
        players=tuple(players),
    )
    return reckoned, tuple(postings)


def _as_before(p: Dealt, put_in: int) -> PlayerResult:
    return PlayerResult(
        seat=p.seat,
        status=PASSED,
        tricks=0,
        share=0,
        commission=0,
        fine_due=0,
        fine_paid=0,
        purse=p.purse + put_in,
    )


def compare_corrected(was: Result, due: Result) -> None:
    """R5: a corrected result is the right one, field by field. Raises Differs."""
    _compare_tables(was, due, "R5", "R5", "R5", "R5")
    for recorded, right in zip(was.players, due.players, strict=True):
        for name in PlayerResult.__struct_fields__:
            expect("R5", f"the {name} of seat {right.seat}", getattr(recorded, name), getattr(right, name))


def _compare_tables(was: Result, due: Result, ending: str, bank: str, carried: str, dealer: str) -> None:
    expect(ending, "the ending", was.ending, due.ending)
    expect(bank, "the bank", was.bank, due.bank)
    expect("T4", "the seats of the result", _seats(was), _seats(due))
    expect(carried, "the carried bank", was.carried_bank, due.carried_bank)
    expect(dealer, "the next dealer", was.next_dealer, due.next_dealer)


def _seats(result: Result) -> str:
    return " ".join(str(p.seat) for p in result.players)


def _compare_players(was: PlayerResult, due: PlayerResult, word: str, share: str, fine: str) -> None:
    seat = due.seat
    voided = word == "T12"
    expect(word, f"the status of seat {seat}", was.status, due.status)
    expect("T12" if voided else "K16", f"the tricks of seat {seat}", was.tricks, due.tricks)
    expect(share, f"the share of seat {seat}", was.share, due.share)
    expect("T12" if voided else "T10", f"the commission of seat {seat}", was.commission, due.commission)
    expect(fine, f"the fine due from seat {seat}", was.fine_due, due.fine_due)
    expect("T12" if voided else "T7", f"the fine paid by seat {seat}", was.fine_paid, due.fine_paid)
    expect("T12" if voided else "T7", f"the purse of seat {seat}", was.purse, due.purse)


def _released(
    book: TableBook, hand: HandBook, result: Result, last_dealt_in: tuple[tuple[int, str], ...]
) -> tuple[TableBook, Postings]:
    """The postings of a hand together, once they come to the very purses and bank of its result (T6 to T9, N)."""
    purses = {p.seat: p.amount for p in book.purses}
    bank = accounts.bank(book.table)
    change = dict.fromkeys([bank, *(accounts.purse(book.table, p.player) for p in hand.players)], 0)
    for e in hand.postings:
        assert e.amount > 0, e
        if e.debit in change:
            change[e.debit] -= e.amount
        if e.credit in change:
            change[e.credit] += e.amount
    expect("T6", "the bank by its postings", result.carried_bank, book.bank + change[bank])
    for p, due in zip(hand.players, result.players, strict=True):
        posted = purses[p.seat] + change[accounts.purse(book.table, p.player)]
        expect("T7", f"the purse of seat {p.seat} by its postings", due.purse, posted)
        if not 0 <= posted <= MAX_AMOUNT or due.fine_due > MAX_AMOUNT:
            raise Differs("N", f"the amounts of seat {p.seat}", due.purse, None)
        purses[p.seat] = posted
    if not 0 <= result.carried_bank <= MAX_AMOUNT:
        raise Differs("N", "the carried bank", result.carried_bank, None)
    after = replace(
        book,
        purses=tuple([Purse(p.seat, p.player, purses[p.seat]) for p in book.purses]),
        bank=result.carried_bank,
        last_dealt_in=last_dealt_in,
        hand=None,
    )
    return after, Postings(book.settings.currency, hand.postings)
