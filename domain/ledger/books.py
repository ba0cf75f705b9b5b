"""The ledger's own state of one stream, table or account. It holds what the postings came to, and no more.

A fold begins at a stream's first event (`opening`) and takes nothing over from an opening state in the log: those are
compared with it. The structs are plain data, so that a projection can keep them beside its checkpoint.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from domain.cards import Card
from domain.events import CorrectionBasis, Result, SeatAmount, Settings
from domain.ledger.postings import Mismatch, Posting

PASSED = "passed"
DECLINED = "declined"
"""He did not help and has still to be asked for the draw circle: no status of H2."""


class Awaiting(Struct, frozen=True, tag=True):
    """The rules have the next word: a deal, a trump card, or that the hand is voided (T12).

    `owed` are the top-ups that must come first (K10, F4, F5, C4).
    """

    next: Literal["deal", "trump", "void"]
    owed: tuple[SeatAmount, ...] = ()


class Speaking(Struct, frozen=True, tag=True):
    """The circles; `passes` counts those of the circle for a declarer."""

    passes: int = 0


class Tricks(Struct, frozen=True, tag=True):
    """`order` are the seats in play from the leader round, `trick` the cards played so far."""

    order: tuple[int, ...]
    trick: tuple[Card, ...] = ()


class Paying(Struct, frozen=True, tag=True):
    """All tricks have an owner: the result as reckoned, and which payments (`share 2`) are recorded already."""

    result: Result
    paid: tuple[str, ...] = ()


class Disputed(Struct, frozen=True, tag=True):
    """The record differed in this running hand. Nothing of it counts, unless it is voided (T12) or corrected (R5).

    `shadow` is the hand as it is reckoned on, without what was recorded wrongly; None once the record leaves the rules.
    """

    mismatch: Mismatch
    shadow: HandBook | None = None


Phase = Awaiting | Speaking | Tricks | Paying | Disputed


class Dealt(Struct, frozen=True):
    """A dealt-in player. `status` is empty, a word of H2, `DECLINED` or `PASSED`; `aces` counts those he played."""

    seat: int
    player: str
    purse: int
    status: str = ""
    tricks: int = 0
    replaced: bool = False
    by_clock: bool = False
    aces: int = 0

    @property
    def in_play(self) -> bool:
        """Declarer or helper."""
        return self.status not in ("", PASSED, DECLINED)


class HandBook(Struct, frozen=True, kw_only=True):
    """A running hand. `postings` wait for its end; the bank is `carried` and what they put into it.

    `first_cutter` is the seat that took pyatok or shestok, or cut in, before others.
    """

    hand_id: str
    dealer: int
    carried: int
    players: tuple[Dealt, ...]
    postings: tuple[Posting, ...]
    phase: Phase
    deal_no: int = 0
    circle: int = 0
    trump_card: Card | None = None
    declarer: int | None = None
    first_cutter: int | None = None


class HandDispute(Struct, frozen=True, kw_only=True):
    """A hand that ended otherwise than it is reckoned: what was `recorded`, and what is `right` on which `basis` (R5).

    What came after it is followed as recorded. `postings` are those that come to `right`.
    """

    hand_id: str
    players: tuple[tuple[int, str], ...]
    mismatch: Mismatch
    recorded: Result
    right: Result
    basis: CorrectionBasis
    postings: tuple[Posting, ...]


class Purse(Struct, frozen=True):
    """A seated player's purse, in minor units; of one dealt in, as before the hand."""

    seat: int
    player: str
    amount: int


class BankPart(Struct, frozen=True):
    """T13: a part of the carried bank."""

    seat: int
    player: str
    amount: int


class NewTable(Struct, frozen=True, tag=True):
    """A table's stream before its first event."""

    stream: str


class TableBook(Struct, frozen=True, kw_only=True, tag=True):
    """A table's money: `purses` in seat order, `bank` as carried. `returning` are the parts of T13 still to come.

    `disputes` are ended hands that await their correction; `held` are postings that wait until none is left. `lost`:
    something else differed meanwhile, so that no correction makes this book good.
    """

    stream: str
    settings: Settings
    purses: tuple[Purse, ...] = ()
    bank: int = 0
    last_dealt_in: tuple[tuple[int, str], ...] = ()
    returning: tuple[BankPart, ...] = ()
    hand: HandBook | None = None
    disputes: tuple[HandDispute, ...] = ()
    held: tuple[Posting, ...] = ()
    lost: bool = False

    @property
    def mismatch(self) -> Mismatch | None:
        """The first difference that is not made good."""
        if self.disputes:
            return self.disputes[0].mismatch
        hand = self.hand
        return hand.phase.mismatch if hand is not None and isinstance(hand.phase, Disputed) else None

    @property
    def table(self) -> str:
        """The table's id, as the accounts name it."""
        return self.stream.removeprefix("table-")


class NewAccount(Struct, frozen=True, tag=True):
    """An account's stream before its first event."""

    stream: str


class AccountBook(Struct, frozen=True, kw_only=True, tag=True):
    """T2: a player's account in one currency."""

    stream: str
    player: str
    currency: str
    balance: int = 0


Book = NewTable | TableBook | NewAccount | AccountBook


def opening(stream: str) -> Book | None:
    """The book of a stream before its first event; None where the stream moves no money."""
    if stream.startswith("table-"):
        return NewTable(stream)
    return NewAccount(stream) if stream.startswith("account-") else None
