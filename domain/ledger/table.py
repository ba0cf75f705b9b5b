"""A table's money between hands: purses and bank, and the start and end of a hand. Source: T1 to T5, T13."""

from __future__ import annotations

from msgspec.structs import replace

from domain.events import (
    BankReturned,
    HandStarted,
    PlayerLeft,
    PlayerSat,
    PurseToppedUp,
    TableClosed,
    TableOpened,
    TableRecord,
    TableStateWritten,
)
from domain.ledger import accounts
from domain.ledger.books import Awaiting, BankPart, Dealt, HandBook, NewTable, Purse, TableBook
from domain.ledger.laws import law_of
from domain.ledger.postings import Differs, Posting, Postings, expect

Step = tuple[TableBook, Postings | None]


def opened(book: NewTable, event: TableOpened) -> TableBook:
    """T1."""
    return TableBook(stream=book.stream, settings=event.settings)


def sat(book: TableBook, event: PlayerSat, seq: int, command_id: bytes) -> Step:
    """T2: the buy-in, on its way since the account gave it, arrives in a new purse."""
    if any(p.player == event.player or p.seat == event.seat for p in book.purses):
        raise Differs("T2", f"a purse for {event.player} at seat {event.seat}", event.buy_in, None)
    if event.buy_in < 0:
        raise Differs("T2", f"the buy-in of {event.player}", event.buy_in, "not below zero")
    if not book.purses:
        _bank_gone(book)
    purses = sorted((*book.purses, Purse(event.seat, event.player, event.buy_in)), key=lambda p: p.seat)
    return replace(book, purses=tuple(purses)), _arrives(book, event.player, event.buy_in, "T2", seq, command_id)


def topped_up(book: TableBook, event: PurseToppedUp, seq: int, command_id: bytes) -> Step:
    """T3: for those not in a hand."""
    purse = _purse_out_of_hand(book, event.seat, event.player, event.amount)
    if event.amount < 0:
        raise Differs("T3", f"the top-up of {event.player}", event.amount, "not below zero")
    after = replace(purse, amount=purse.amount + event.amount)
    purses = tuple([after if p is purse else p for p in book.purses])
    return replace(book, purses=purses), _arrives(book, event.player, event.amount, "T3", seq, command_id)


def _arrives(book: TableBook, player: str, amount: int, clause: str, seq: int, command_id: bytes) -> Postings | None:
    if not amount:  # where the stake is nothing, a buy-in of nothing is enough
        return None
    purse = accounts.purse(book.table, player)
    posting = Posting(accounts.transit(command_id), purse, amount, clause, seq)
    return Postings(book.settings.currency, (posting,))


def left(book: TableBook, event: PlayerLeft, seq: int, command_id: bytes) -> Step:
    """T3: all of the purse, and no more, is on its way to the account."""
    purse = _purse_out_of_hand(book, event.seat, event.player, event.purse)
    expect("T3", f"the purse of {event.player}", event.purse, purse.amount)
    if event.purse < 0:
        raise Differs("T3", f"the purse of {event.player}", event.purse, "not below zero")
    after = replace(book, purses=tuple([p for p in book.purses if p is not purse]))
    return after, _departs(book, accounts.purse(book.table, event.player), purse.amount, "T3", seq, command_id)


def bank_returned(book: TableBook, event: BankReturned, seq: int, command_id: bytes) -> Step:
    """T13: the carried bank in equal parts, a remainder unit by unit from the lowest seat."""
    parts = book.returning or _parts(book)
    what = f"the part of the bank of {event.player}"
    part = next((p for p in parts if p.seat == event.seat and p.player == event.player), None)
    expect("T13", what, event.amount, 0 if part is None else part.amount)
    if event.amount < 0:
        raise Differs("T13", what, event.amount, "not below zero")
    after = replace(
        book,
        bank=book.bank - event.amount,
        returning=tuple([p for p in parts if p is not part]),
    )
    return after, _departs(book, accounts.bank(book.table), event.amount, "T13", seq, command_id)


def _departs(book: TableBook, account: str, amount: int, clause: str, seq: int, command_id: bytes) -> Postings | None:
    if not amount:
        return None
    posting = Posting(account, accounts.transit(command_id), amount, clause, seq)
    return Postings(book.settings.currency, (posting,))


def _parts(book: TableBook) -> tuple[BankPart, ...]:
    dealt_in = sorted(book.last_dealt_in)
    if book.hand is not None or not dealt_in:
        return ()
    each, rest = divmod(book.bank, len(dealt_in))
    parts = [BankPart(seat, player, each + (i < rest)) for i, (seat, player) in enumerate(dealt_in)]
    return tuple([part for part in parts if part.amount])


def _bank_gone(book: TableBook) -> None:
    """T13: where nobody sits, nothing is carried."""
    expect("T13", "the carried bank of an empty table", book.bank, 0)


def closed(book: TableBook, event: TableClosed, seq: int, command_id: bytes) -> Step:
    """T13: nothing stays behind."""
    if book.hand is not None:
        raise Differs("T13", "a running hand", "closed", None)
    for purse in book.purses:
        raise Differs("T13", f"the purse of {purse.player}", None, purse.amount)
    _bank_gone(book)
    return book, None


def _purse_out_of_hand(book: TableBook, seat: int, player: str, amount: int) -> Purse:
    purse = next((p for p in book.purses if p.seat == seat and p.player == player), None)
    if purse is None:
        raise Differs("T2", f"the purse of {player} at seat {seat}", amount, None)
    if book.hand is not None and any(p.seat == seat for p in book.hand.players):
        raise Differs("T3", f"the purse of {player}, who is in a hand", amount, None)
    return purse


def state_written(book: TableBook, event: TableStateWritten, seq: int, command_id: bytes) -> Step:
    """A written state says what the books say."""
    if book.hand is not None:
        raise Differs("T4", "a running hand", None, book.hand.hand_id)
    _compare_record(book, event.table)
    return book, None


def _compare_record(book: TableBook, record: TableRecord) -> None:
    """T1, T6: purses, carried bank and terms of an opening state, which the books do not take over but compare."""
    settings, was = book.settings, record.settings
    expect("T1", "the currency", was.currency, settings.currency)
    expect("T1", "the stake", was.stake, settings.stake)
    expect("T10", "the rate of the commission", was.commission_bps, settings.commission_bps)
    if was.options != settings.options:
        raise Differs("T1", "the options", repr(was.options), repr(settings.options))
    expect("T6", "the carried bank", record.carried_bank, book.bank)
    recorded = {(s.seat, s.player): s.purse for s in record.seats}
    for p in book.purses:
        expect("T2", f"the purse of {p.player} at seat {p.seat}", recorded.pop((p.seat, p.player), None), p.amount)
    for (seat, player), amount in recorded.items():
        raise Differs("T2", f"the purse of {player} at seat {seat}", amount, None)


def hand_started(book: TableBook, event: HandStarted, seq: int, command_id: bytes) -> Step:
    """T4, T5: the antes."""
    if book.hand is not None:
        raise Differs("T4", "a running hand", event.hand_id, book.hand.hand_id)
    _compare_record(book, event.table)
    book = replace(book, settings=event.table.settings)
    law_of(book.settings)
    settings, table = book.settings, book.table
    owed = settings.options.ante_policy == "every_hand" or book.bank == 0
    ante = settings.stake if owed else 0
    expect("T5", "the ante", event.ante, ante)
    players, postings = [], []
    for seat in sorted(set(event.dealt_in)):
        purse = next((p for p in book.purses if p.seat == seat), None)
        if purse is None or purse.amount < settings.stake:
            raise Differs("T4", f"seat {seat} dealt in", 0 if purse is None else purse.amount, settings.stake)
        players.append(Dealt(seat, purse.player, purse.amount - ante))
        if ante:
            account = accounts.purse(table, purse.player)
            postings.append(Posting(account, accounts.bank(table), ante, "T5", seq, event.hand_id))
    if len(players) < 2 or len(players) != len(event.dealt_in) or event.dealer not in event.dealt_in:
        raise Differs("T4", "the seats dealt in", " ".join(map(str, event.dealt_in)), None)
    hand = HandBook(
        hand_id=event.hand_id,
        dealer=event.dealer,
        carried=book.bank,
        players=tuple(players),
        postings=tuple(postings),
        phase=Awaiting("deal"),
    )
    return replace(book, hand=hand, returning=()), None
