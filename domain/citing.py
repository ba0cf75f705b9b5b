"""Which clauses of the rulebook made a recorded act legal, or had it follow. For readers; legality is `domain.legal`'s.

A clause is cited as `K15`. Source: rulebook T, K, F, C, S.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.events import (
    BankReturned,
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    ClientSeedSet,
    CommissionTaken,
    DeadlinesRenewed,
    Declared,
    Event,
    FinePaid,
    FourAcesShown,
    HandCommitted,
    HandCorrected,
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
)
from domain.games import game_of
from domain.games.game import Game, Matter
from domain.hand import Declaring, Drawing, Exchanging, Finished, Hand, Owing, Playing, Undealt, at
from domain.legal import clause

Clauses = tuple[str, ...]

TABLE: dict[type[Event], Clauses] = {
    TableOpened: ("T1",),
    HandCommitted: ("S2",),
    ClientSeedSet: ("S2",),
    PlayerSat: ("T2",),
    PurseToppedUp: ("T3",),
    PlayerSatOut: ("T3",),
    PlayerReturned: ("T3",),
    LeaveRequested: ("T3",),
    PlayerLeft: ("T3",),
    DeadlinesRenewed: ("T11",),
    TableStateWritten: (),
    TableHalted: (),
    TableResumed: (),
    TableClosing: ("T13",),
    BankReturned: ("T13",),
    TableClosed: ("T13",),
    HandStarted: ("T4", "T5", "T14"),
    VoidProposed: ("T12",),
    SeedDisclosed: ("S6",),
    HandCorrected: ("R5",),
}
"""Events of the table, whatever the hand."""


def clauses_of(hand: Hand | None, event: Event) -> Clauses:
    """The clauses of `event`, `hand` being the hand before it; empty where the rulebook has none."""
    found = TABLE.get(type(event))
    if found is None:
        assert hand is not None, type(event)
        found = _HAND[type(event)](game_of(hand.options, hand.rules), hand, event)
    return (*found, "T11") if getattr(event, "by", "player") == "clock" else found


def _matter(matter: Matter) -> Callable[[Game, Hand, Any], Clauses]:
    return lambda game, hand, event: game.cites[matter]


def _always(*clauses: str) -> Callable[[Game, Hand, Any], Clauses]:
    return lambda game, hand, event: clauses


def _dealt(game: Game, hand: Hand, event: CardsDealt) -> Clauses:
    return (*game.cites["deal" if isinstance(hand.phase, Undealt) else "redeal"], "S5")


def _turned(game: Game, hand: Hand, event: TrumpTurned) -> Clauses:
    return game.cites["turn" if event.circle == 1 else "turn_again"]


def _declared(game: Game, hand: Hand, event: Declared) -> Clauses:
    own = game.word_clauses.get(event.do) if isinstance(hand.phase, Declaring) else None
    return (own or clause(hand),)


def _exchanged(game: Game, hand: Hand, event: CardsDiscarded | CardsDrawn) -> Clauses:
    """A discard that is owed is one by K11 too; what a word throws and draws is that word's."""
    match hand.phase:
        case Owing():
            return (clause(hand), "K11") if game.name == "khrap" else (clause(hand),)
        case Exchanging(seat):
            return (game.debt_clauses[at(hand, seat).status],)
        case Drawing():
            return (game.clauses[Drawing],)
        case phase:
            raise AssertionError(type(phase))


def _topped_up(game: Game, hand: Hand, event: BankToppedUp) -> Clauses:
    return game.cites["top_up" if hand.circle < game.circles(hand.options) else "redeal_top_up"]


def _played(game: Game, hand: Hand, event: CardPlayed) -> Clauses:
    assert isinstance(hand.phase, Playing), hand.hand_id
    return game.cites["follow" if hand.phase.trick else "lead"]


def _shared(game: Game, hand: Hand, event: SharePaid) -> Clauses:
    """K12, K13, F6: tricks that were taken without play."""
    assert isinstance(hand.phase, Finished), hand.hand_id
    without_play = {"four_aces": ("K12",), "uncontested": ("K13" if game.name == "khrap" else "F6",)}
    return (*without_play.get(hand.phase.ending, ()), *game.cites["share"])


_HAND: dict[type[Event], Callable[[Game, Hand, Any], Clauses]] = {
    CardsDealt: _dealt,
    TrumpTurned: _turned,
    CardsLooked: _always("F2"),
    Declared: _declared,
    CardsDiscarded: _exchanged,
    CardsDrawn: _exchanged,
    BankToppedUp: _topped_up,
    TimeBankUsed: _always("T11"),
    FourAcesShown: _always("K12"),
    CardPlayed: _played,
    TrickTaken: _matter("trick"),
    SharePaid: _shared,
    CommissionTaken: _always("T10"),
    FinePaid: _matter("fine"),
    HandSettled: _matter("end"),
    HandVoided: _always("T12"),
}
"""Events of a hand; with `TABLE` complete, a test checks it."""
