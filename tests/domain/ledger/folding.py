"""The ledger folded over a log, and what its postings come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from domain.ledger import Book, Mismatch, Posting, Postings, opening, post
from tests.domain.ledger.evenings import Entry


class Fold:
    """Books, balances and the first mismatch of each stream, which is parked there."""

    def __init__(self) -> None:
        self.books: dict[str, Book] = {}
        self.balances: Counter[str] = Counter()
        self.postings: list[Posting] = []
        self.mismatches: dict[str, Mismatch] = {}

    def add(self, entry: Entry) -> Postings | Mismatch | None:
        book = self.books.get(entry.stream) or opening(entry.stream)
        assert book is not None
        after, outcome = post(book, entry.event, entry.seq, entry.command_id)
        if isinstance(outcome, Mismatch):
            self.mismatches.setdefault(entry.stream, outcome)
            return outcome
        self.books[entry.stream] = after
        if outcome is not None:
            for e in outcome.entries:
                self.balances[e.debit] -= e.amount
                self.balances[e.credit] += e.amount
            self.postings.extend(outcome.entries)
        return outcome


def first_mismatch(log: Iterable[Entry]) -> tuple[Fold, Mismatch | None]:
    """The fold up to the first difference, which it leaves out."""
    fold = Fold()
    for entry in log:
        outcome = fold.add(entry)
        if isinstance(outcome, Mismatch):
            return fold, outcome
    return fold, None
