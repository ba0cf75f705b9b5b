"""The ledger as a projection: each event posted by the ledger's own reckoning, into entries and balances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from domain.events import HandCorrected, HandVoided
from domain.ledger import POSTED, Book, Mismatch, Postings, TableBook, opening, post
from domain.ledger.books import NewAccount, NewTable
from infra.projection_store import Law
from projections.engine.types import Add, CannotApply, Change, Insert, Projection, Recorded

NAME = "ledger"
MISMATCH = "mismatch"
"""The code of a parked stream whose record differs from the ledger's reckoning: its table is to be halted."""

_NEW = (NewTable, NewAccount)
_UNOPENED: Book = NewTable("")
"""The state of any stream before its first event; which book it gets, its name says."""


def step(state: Book, recorded: Recorded) -> tuple[Book, Sequence[Change]]:
    """Post one event. Raises CannotApply(`mismatch`), and UnknownRules, which parks the stream as `failed`."""
    book = opening(recorded.stream) if type(state) in _NEW else state
    assert book is not None, recorded.stream
    after, outcome = post(book, recorded.event, recorded.seq, recorded.command_id)
    if outcome is None:
        return after, ()
    if isinstance(outcome, Mismatch):
        raise CannotApply(MISMATCH, described(outcome), onward=_onward(after))
    return after, changes(outcome, recorded)


def _onward(after: Book) -> Book | None:
    """T12, R5: the state of a hand in dispute, which may yet be voided or corrected; nothing else is made good."""
    disputed = isinstance(after, TableBook) and after.mismatch is not None and not after.lost
    return after if disputed else None


def described(mismatch: Mismatch) -> str:
    """A mismatch in one sentence, for who has to look into it."""
    where = f"hand {mismatch.hand_id}, event {mismatch.seq}" if mismatch.hand_id else f"event {mismatch.seq}"
    recorded, reckoned = (("nothing" if f is None else f) for f in (mismatch.recorded, mismatch.reckoned))
    return f"{mismatch.clause}: {mismatch.what} is recorded as {recorded}, reckoned as {reckoned} ({where})"


def changes(postings: Postings, recorded: Recorded) -> list[Change]:
    """The rows of postings that take effect at an event."""
    part, pos, at_ms, currency = recorded.part, recorded.pos, recorded.at_ms, postings.currency
    made: list[Change] = []
    moved: dict[str, int] = {}
    for n, e in enumerate(postings.entries):
        moved[e.debit] = moved.get(e.debit, 0) - e.amount
        moved[e.credit] = moved.get(e.credit, 0) + e.amount
        row = {
            "part": part,
            "pos": pos,
            "n": n,
            "at_ms": at_ms,
            "stream": recorded.stream,
            "seq": e.seq,
            "hand_id": e.hand_id or None,
            "clause": e.clause,
            "currency": currency,
            "debit": e.debit,
            "credit": e.credit,
            "amount": e.amount,
        }
        made.append(Insert("entry", row))
    for account, amount in moved.items():
        if amount:
            key = {"account": account, "currency": currency, "part": part}
            made.append(Add("balance", key, {"balance": amount}))
    return made


HERE = Path(__file__).parent
LAWS = (
    Law("all books sum to zero", (HERE / "law_zero.sql").read_text()),
    Law("a balance is the sum of its entries", (HERE / "law_balances.sql").read_text()),
    Law("no purse or bank is below zero", (HERE / "law_below_zero.sql").read_text()),
)

LEDGER: Projection[Book] = Projection(
    name=NAME,
    version=1,
    ddl=(HERE / "schema.sql").read_text(),
    streams=("table-", "account-"),
    handles=tuple(sorted(POSTED, key=lambda event: event.__name__)),
    state=Book,
    initial=_UNOPENED,
    step=step,
    heals=(HandVoided, HandCorrected),
    laws=LAWS,
)
