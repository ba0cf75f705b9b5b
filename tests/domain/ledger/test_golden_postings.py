"""The entries of every golden hand, spelled out: event, clause, from, to, amount. By the ledger alone.

KHRAP_GOLDEN=write writes them anew: then read the difference, line by line.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from domain.events import HandStarted
from domain.handfile import replay
from domain.ledger import Book, Mismatch, Outcome, Postings, TableBook, post
from domain.ledger.books import Purse
from tests.domain.goldens import FOLDER, read
from tests.domain.ledger.evenings import TABLE_ID, TABLE_STREAM

TEXTS = sorted(FOLDER.glob("*.txt"))
POSTED = Path(__file__).parent / "golden_postings"
COMMAND = b"c" * 16


def entries(path: Path) -> str:
    """What the ledger posts for the hand of a golden text, a line each."""
    started, *events = [event for step in replay(read(path.read_text()).file) for event in step.events]
    assert isinstance(started, HandStarted)
    table = started.table
    purses = tuple(Purse(seat.seat, seat.player, seat.purse) for seat in table.seats)
    book: Book = TableBook(stream=TABLE_STREAM, settings=table.settings, purses=purses, bank=table.carried_bank)
    outcome: Outcome = None
    for seq, event in enumerate((started, *events), 1):
        book, outcome = post(book, event, seq, COMMAND)
        assert not isinstance(outcome, Mismatch), outcome
    posted = outcome.entries if isinstance(outcome, Postings) else ()
    assert {entry.hand_id for entry in posted} <= {started.hand_id}
    lines = [f"{e.seq:>3} {e.clause:<3} {_short(e.debit)} → {_short(e.credit)} {e.amount}\n" for e in posted]
    return "".join(lines)


def _short(account: str) -> str:
    return account.replace(f":{TABLE_ID}", "")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_golden_hand_is_posted_as_it_is_written(path: Path) -> None:
    written = POSTED / path.name
    if os.environ.get("KHRAP_GOLDEN") == "write":
        written.write_text(entries(path))
    assert entries(path) == written.read_text()


def test_every_clause_that_moves_money_in_a_hand_is_among_them() -> None:
    clauses = {line.split()[1] for path in TEXTS for line in (POSTED / path.name).read_text().splitlines()}
    assert clauses == {"T5", "T9", "T10", "K10", "K17", "F4", "F5", "F10", "F11", "C4", "C5", "C6"}
