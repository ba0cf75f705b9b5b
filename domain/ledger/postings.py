"""What the ledger answers to an event: balanced postings, or that the record differs from its own reckoning."""

from __future__ import annotations

from msgspec import Struct

Figure = int | str | None
"""A figure as recorded or as reckoned; None where there is none."""


class Posting(Struct, frozen=True):
    """One entry on both sides: `amount`, above zero, goes from the account `debit` to the account `credit`.

    So every posting sums to zero by itself. `seq` is the event that it is for, `clause` says why; `hand_id` is empty
    outside a hand.
    """

    debit: str
    credit: str
    amount: int
    clause: str
    seq: int
    hand_id: str = ""


class Postings(Struct, frozen=True):
    """Entries that take effect together: those of one event, or all of one hand."""

    currency: str
    entries: tuple[Posting, ...]


class Mismatch(Struct, frozen=True, kw_only=True):
    """The record of `stream` differs at event `seq` from what `clause` comes to; nothing is posted for it.

    `hand_id` is empty outside a hand. `what` names the figure, with the seat where it is one of a player's.
    """

    stream: str
    hand_id: str
    seq: int
    clause: str
    what: str
    recorded: Figure
    reckoned: Figure

    @property
    def table(self) -> str:
        """The table's id, empty where the stream is an account's."""
        return self.stream.removeprefix("table-") if self.stream.startswith("table-") else ""


Outcome = Postings | Mismatch | None


class Differs(Exception):
    """Raised inside the ledger where the record differs; `post` makes a Mismatch of it and lets none out."""

    def __init__(self, clause: str, what: str, recorded: Figure, reckoned: Figure) -> None:
        super().__init__(f"{clause}: {what} is recorded as {recorded!r}, reckoned as {reckoned!r}")
        self.clause = clause
        self.what = what
        self.recorded = recorded
        self.reckoned = reckoned


def expect(clause: str, what: str, recorded: Figure, reckoned: Figure) -> None:
    """Raises Differs unless the two figures are equal."""
    if recorded != reckoned:
        raise Differs(clause, what, recorded, reckoned)
