"""An event of a table or an account → the postings it makes, or where it differs. Source: DESIGN "Projections".

The one allowed second reckoning: what the other half of the domain decided is worked out here once more, from the plays
and the words, by code that shares no rule with it. An import contract keeps the two apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, assert_never

from msgspec.structs import replace

from domain.events import (
    DISPUTE_EVENTS,
    LOG_EVENTS,
    AccountOpened,
    Adjusted,
    BankReturned,
    BankToppedUp,
    BoughtIn,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    CashedOut,
    ClientSeedSet,
    CommissionTaken,
    DeadlinesRenewed,
    Declared,
    Deposited,
    Event,
    FinePaid,
    FourAcesShown,
    HandCommitted,
    HandCorrected,
    HandExamined,
    HandSettled,
    HandStarted,
    HandVoided,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PlayerSatOut,
    PurseToppedUp,
    SeedDisclosed,
    SessionEnded,
    SessionOpened,
    SharePaid,
    TableClosed,
    TableClosing,
    TableHalted,
    TableOpened,
    TableResumed,
    TableStateWritten,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
    VoidProposed,
    Withdrawn,
)
from domain.ledger import account, closing, disputing, play, settling, table
from domain.ledger.books import AccountBook, Book, Disputed, HandBook, NewAccount, NewTable, TableBook
from domain.ledger.postings import Differs, Mismatch, Outcome, Postings

UNPOSTED: frozenset[type[Event]] = frozenset(
    {
        HandCommitted,
        HandExamined,
        ClientSeedSet,
        PlayerSatOut,
        PlayerReturned,
        LeaveRequested,
        DeadlinesRenewed,
        TableHalted,
        TableResumed,
        TableClosing,
        CardsLooked,
        TimeBankUsed,
        VoidProposed,
        SeedDisclosed,
        SessionEnded,
        SessionOpened,
        *DISPUTE_EVENTS,
        *LOG_EVENTS,
    }
)
"""Events that move no money and decide none: a reader need not even decode them."""

_ACCOUNT: dict[type[Event], Callable[[AccountBook, Any, int, bytes], tuple[AccountBook, Postings | None]]] = {
    Deposited: account.deposited,
    Withdrawn: account.withdrawn,
    BoughtIn: account.bought_in,
    CashedOut: account.cashed_out,
    Adjusted: account.adjusted,
}

_TABLE: dict[type[Event], Callable[[TableBook, Any, int, bytes], tuple[TableBook, Postings | None]]] = {
    PlayerSat: table.sat,
    PurseToppedUp: table.topped_up,
    PlayerLeft: table.left,
    BankReturned: table.bank_returned,
    TableClosed: table.closed,
    TableStateWritten: table.state_written,
    HandStarted: table.hand_started,
    HandCorrected: disputing.corrected,
}

_HAND: dict[type[Event], Callable[[TableBook, HandBook, Any, int], HandBook]] = {
    CardsDealt: play.dealt,
    TrumpTurned: play.turned,
    BankToppedUp: play.topped_up,
    Declared: play.declared,
    CardsDiscarded: play.replaced,
    CardsDrawn: play.replaced,
    FourAcesShown: play.aces_shown,
    CardPlayed: play.played,
    TrickTaken: play.trick_taken,
    SharePaid: settling.share_paid,
    CommissionTaken: settling.commission_taken,
    FinePaid: settling.fine_paid,
}

_HAND_ENDS: dict[type[Event], Callable[[TableBook, HandBook, Any, int], tuple[TableBook, Postings]]] = {
    HandSettled: closing.settled,
    HandVoided: closing.voided,
}


_NEW_TABLE: dict[type[Event], Callable[[NewTable, Any], TableBook]] = {TableOpened: table.opened}
_NEW_ACCOUNT: dict[type[Event], Callable[[NewAccount, Any], AccountBook]] = {AccountOpened: account.opened}

POSTED: frozenset[type[Event]] = frozenset({*_NEW_TABLE, *_NEW_ACCOUNT, *_ACCOUNT, *_TABLE, *_HAND, *_HAND_ENDS})


def post(book: Book, event: Event, seq: int, command_id: bytes) -> tuple[Book, Outcome]:
    """The book after event number `seq` of its stream, of a command of 16 bytes, and what is posted.

    A hand's postings come together at its end. Where the record differs nothing is posted. Outside a hand the book
    stays as it was. Within one the hand is in dispute: every later event that counts is followed as recorded and
    answered with the same Mismatch, until ops void that hand (T12) or it is corrected (R5); then all that waited is
    posted at once. Raises UnknownRules for a game or version that this ledger does not know.
    """
    kind = type(event)
    # Nearly all events are those of a hand in which nothing differs: what the rest does for them is done at once,
    # or a rebuild takes a tenth longer. One that differs is posted again, the long way.
    follow = _HAND.get(kind)
    if follow is not None and type(book) is TableBook and not (book.disputes or book.held):
        hand = book.hand
        if hand is not None and type(hand.phase) is not Disputed:
            try:
                return replace(book, hand=follow(book, hand, event, seq)), None
            except Differs:
                pass
    if kind in UNPOSTED:
        return book, None
    if not isinstance(book, TableBook):
        try:
            return _posted(book, event, seq, command_id)
        except Differs as differs:
            return book, _mismatch(book, None, seq, differs)
    if book.lost:
        return book, book.mismatch
    hand = book.hand
    try:
        after, posted = _table_posted(book, event, seq, command_id)
    except Differs as differs:
        if book.mismatch is not None and (hand is None or isinstance(hand.phase, Disputed) or type(event) in _TABLE):
            lost = replace(book, lost=True)
            return lost, lost.mismatch
        mismatch = _mismatch(book, hand, seq, differs)
        if hand is None or type(event) in _TABLE:
            return book, mismatch
        after = disputing.begun(book, hand, event, seq, mismatch, _HAND.get(type(event)))
        return after, after.mismatch
    return disputing.waiting(after, posted)


def _table_posted(book: TableBook, event: Event, seq: int, command_id: bytes) -> tuple[TableBook, Postings | None]:
    hand, kind = book.hand, type(event)
    if hand is not None and isinstance(hand.phase, Disputed) and kind not in _TABLE:
        return disputing.followed(book, hand, event, seq, _HAND.get(kind))
    # Most events are those of a hand: they are looked up first.
    follow = _HAND.get(kind)
    if hand is not None and follow is not None:
        return replace(book, hand=follow(book, hand, event, seq)), None
    end = _HAND_ENDS.get(kind)
    if hand is not None and end is not None:
        return end(book, hand, event, seq)
    return _step(_TABLE, event)(book, event, seq, command_id)


def _posted(
    book: AccountBook | NewTable | NewAccount, event: Event, seq: int, command_id: bytes
) -> tuple[Book, Postings | None]:
    match book:
        case AccountBook():
            return _step(_ACCOUNT, event)(book, event, seq, command_id)
        case NewTable():
            return _step(_NEW_TABLE, event)(book, event), None
        case NewAccount():
            return _step(_NEW_ACCOUNT, event)(book, event), None
        case _:
            assert_never(book)


def _mismatch(book: Book, hand: HandBook | None, seq: int, differs: Differs) -> Mismatch:
    return Mismatch(
        stream=book.stream,
        hand_id="" if hand is None else hand.hand_id,
        seq=seq,
        clause=differs.clause,
        what=differs.what,
        recorded=differs.recorded,
        reckoned=differs.reckoned,
    )


Handler = TypeVar("Handler")


def _step(handlers: dict[type[Event], Handler], event: Event) -> Handler:
    handler = handlers.get(type(event))
    if handler is None:
        raise Differs("T1", "an event of this stream", type(event).__name__, None)
    return handler
