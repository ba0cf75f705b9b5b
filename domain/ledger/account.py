"""An account's money: in from outside and from tables, out to them, and adjusted. Source: T2, T3, T13."""

from __future__ import annotations

from msgspec.structs import replace

from domain.events import AccountOpened, Adjusted, BoughtIn, CashedOut, Deposited, Withdrawn
from domain.ledger import accounts
from domain.ledger.books import AccountBook, NewAccount
from domain.ledger.postings import Differs, Posting, Postings, expect
from domain.money import MAX_AMOUNT

Step = tuple[AccountBook, Postings | None]


def opened(book: NewAccount, event: AccountOpened) -> AccountBook:
    """T2: the stream is named after whose account it is."""
    expect("T2", "the account that was opened", f"account-{event.player}-{event.currency}", book.stream)
    return AccountBook(stream=book.stream, player=event.player, currency=event.currency)


def deposited(book: AccountBook, event: Deposited, seq: int, command_id: bytes) -> Step:
    """Money from outside."""
    return _comes(book, accounts.CASH, event.amount, event.balance, "T2", seq)


def withdrawn(book: AccountBook, event: Withdrawn, seq: int, command_id: bytes) -> Step:
    """Money to the outside."""
    return _goes(book, accounts.CASH, event.amount, event.balance, seq)


def bought_in(book: AccountBook, event: BoughtIn, seq: int, command_id: bytes) -> Step:
    """T2, T3: on its way to a purse."""
    return _goes(book, accounts.transit(command_id), event.amount, event.balance, seq)


def cashed_out(book: AccountBook, event: CashedOut, seq: int, command_id: bytes) -> Step:
    """T3, T13: a purse or a part of a bank that was on its way."""
    clause = "T3" if event.kind == "purse" else "T13"
    return _comes(book, accounts.transit(command_id), event.amount, event.balance, clause, seq)


def adjusted(book: AccountBook, event: Adjusted, seq: int, command_id: bytes) -> Step:
    """A compensation from the house, or, below zero, one taken back."""
    if event.amount < 0:
        return _goes(book, accounts.COMPENSATION, -event.amount, event.balance, seq)
    return _comes(book, accounts.COMPENSATION, event.amount, event.balance, "T2", seq)


def _comes(book: AccountBook, other: str, amount: int, balance: int, clause: str, seq: int) -> Step:
    after = _balanced(book, amount, book.balance + amount, balance)
    posting = Posting(other, accounts.player(book.player), amount, clause, seq)
    return after, Postings(book.currency, (posting,)) if amount else None


def _goes(book: AccountBook, other: str, amount: int, balance: int, seq: int) -> Step:
    after = _balanced(book, amount, book.balance - amount, balance)
    posting = Posting(accounts.player(book.player), other, amount, "T2", seq)
    return after, Postings(book.currency, (posting,)) if amount else None


def _balanced(book: AccountBook, amount: int, reckoned: int, recorded: int) -> AccountBook:
    """The account with the balance that we reckon, which must be the recorded one and never below zero."""
    expect("T2", f"the balance of {book.player}", recorded, reckoned)
    if amount < 0:
        raise Differs("T2", f"an amount of {book.player}", amount, "not below zero")
    if not 0 <= reckoned <= MAX_AMOUNT:
        raise Differs("T2" if reckoned < 0 else "N", f"the balance of {book.player}", recorded, None)
    return replace(book, balance=reckoned)
