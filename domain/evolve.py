"""A table's event, applied. It cannot refuse: what is recorded happened. Source: rulebook T, S2.

A fold may begin at any event of `OPENINGS`: these replace the whole state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from domain import evolve_seats
from domain.events import (
    OPENINGS,
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
    DealtIn,
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
    TableRecord,
    TableResumed,
    TableStateWritten,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
    VoidProposed,
)
from domain.evolve_hand import HANDLERS, evolve_hand, opening
from domain.hand import asked
from domain.legal import forced
from domain.table import (
    NextHand,
    Proposal,
    ShuffleInputs,
    Table,
    seat_at,
)


def evolve(table: Table | None, event: Event, at_ms: int) -> Table:
    """The table after `event`, which was recorded at `at_ms`. `table` is None before an opening event."""
    assert table is not None or isinstance(event, OPENINGS), type(event)
    return _HANDLERS[type(event)](table, event, at_ms)


def evolve_unopened(table: Table | None, event: Event, at_ms: int) -> Table:
    """S7: as `evolve`, of an event of which nothing but the public half is known, its secrets being empty.

    Of a hand its money alone counts: it can but be voided, and its words and cards cannot be followed without decks.
    Each word or card counts as a turn, so that no turn which was open once is ever open again. T11: an own act ends a
    streak of expiries; what the clock did adds to none.
    """
    if type(event) not in HANDLERS or isinstance(event, MONEY):
        return evolve(table, event, at_ms)
    assert table is not None, type(event)
    after = replace(table, turn=table.turn + 1, at_ms=at_ms)
    if isinstance(event, Declared | CardsDiscarded | CardsDrawn | CardPlayed):
        return _streak(after, event.seat, 0) if event.by == "player" else after
    return _streak(after, event.seat, 0) if isinstance(event, CardsLooked) else after


def _opened(_: Table | None, event: TableOpened, at_ms: int) -> Table:
    return Table(settings=event.settings, at_ms=at_ms)


def _from_record(record: TableRecord, at_ms: int) -> Table:
    return Table(
        settings=record.settings,
        seats=record.seats,
        carried_bank=record.carried_bank,
        bank_no=record.bank_no,
        hand_no=record.hand_no,
        dealer=record.dealer,
        last_dealt_in=record.last_dealt_in,
        departures=record.departures,
        turn=record.turn,
        deal_turn=record.turn,
        ready_at_ms=record.ready_at_ms,
        halt=record.halt,
        closing=record.closing,
        at_ms=at_ms,
    )


def _state_written(_: Table | None, event: TableStateWritten, at_ms: int) -> Table:
    next_hand = NextHand(
        hand_id=event.hand_id,
        commitment=event.commitment,
        server_seed=event.server_seed,
        client_seeds=event.client_seeds,
    )
    return replace(_from_record(event.table, at_ms), next_hand=next_hand)


def _hand_started(_: Table | None, event: HandStarted, at_ms: int) -> Table:
    shuffle = ShuffleInputs(server_seed=event.server_seed, client_seeds=event.client_seeds)
    return replace(_from_record(event.table, at_ms), hand=opening(event), shuffle=shuffle, ready_at_ms=None)


def _renewed(table: Table, event: DeadlinesRenewed, at_ms: int) -> Table:
    return evolve_seats.advanced(table, at_ms, opened_at_ms=at_ms)


def _void_proposed(table: Table, event: VoidProposed, at_ms: int) -> Table:
    proposal = Proposal(hand_id=event.hand_id, proposer=event.proposer, reason=event.reason)
    return evolve_seats.advanced(table, at_ms, proposal=proposal)


def _hand_event(table: Table, event: Event, at_ms: int) -> Table:
    """An event of the running hand; a phase that newly asks someone opens a turn."""
    before = table.hand
    assert before is not None, type(event)
    hand = evolve_hand(before, event)
    if hand.phase is before.phase or asked(hand) is None:
        return replace(table, hand=hand, at_ms=at_ms)
    return replace(table, hand=hand, turn=table.turn + 1, opened_at_ms=at_ms, at_ms=at_ms)


def _dealt(table: Table, event: CardsDealt, at_ms: int) -> Table:
    return replace(_hand_event(table, event, at_ms), deal_turn=table.turn + 1)


def _looked(table: Table, event: CardsLooked, at_ms: int) -> Table:
    return _streak(_hand_event(table, event, at_ms), event.seat, 0)


def _acted(table: Table, event: Declared | CardsDiscarded | CardsDrawn | CardPlayed, at_ms: int) -> Table:
    after = _hand_event(table, event, at_ms)
    if event.by == "player":
        return _streak(after, event.seat, 0)
    assert table.hand is not None
    return after if forced(table.hand) else _streak(after, event.seat, 1)


def _streak(table: Table, seat: int, more: int) -> Table:
    """T11: an own action ends a streak of expiries (`more` is 0); the clock's adds to it where there was a choice."""
    sitting = seat_at(table, seat)
    if sitting is None or not (more or sitting.expiries):
        return table
    after = replace(sitting, expiries=sitting.expiries + more if more else 0)
    return replace(table, seats=tuple([after if s is sitting else s for s in table.seats]))


def _settled(table: Table, event: HandSettled, at_ms: int) -> Table:
    """T2: a new bank begins where a share was paid out of the old one, or there was none."""
    hand = table.hand
    assert hand is not None
    dealt_in = tuple(DealtIn(seat=p.seat, player=p.player) for p in hand.players)
    new_bank = not table.carried_bank or any(p.share for p in event.result.players)
    return _ended(table, event, at_ms, last_dealt_in=dealt_in, bank_no=table.bank_no + new_bank)


def _voided(table: Table, event: HandVoided, at_ms: int) -> Table:
    return _ended(table, event, at_ms)


def _ended(table: Table, event: HandSettled | HandVoided, at_ms: int, **changes: Any) -> Table:
    assert table.hand is not None
    result = event.result
    purses = {p.seat: p.purse for p in result.players}
    paid = ((s, replace(s, purse=purses.get(s.seat, s.purse))) for s in table.seats)
    return evolve_seats.advanced(
        table,
        at_ms,
        hand=evolve_hand(table.hand, event),
        shuffle=None,
        proposal=None,
        seats=tuple([evolve_seats.idle_since(table, before, after, at_ms) for before, after in paid]),
        carried_bank=result.carried_bank,
        dealer=result.next_dealer,
        hand_no=table.hand_no + 1,
        **changes,
    )


_HANDLERS: dict[type[Event], Callable[[Any, Any, int], Table]] = {
    TableOpened: _opened,
    TableStateWritten: _state_written,
    HandStarted: _hand_started,
    HandCommitted: evolve_seats.committed,
    ClientSeedSet: evolve_seats.client_seed_set,
    PlayerSat: evolve_seats.sat,
    PurseToppedUp: evolve_seats.topped_up,
    PlayerSatOut: evolve_seats.sat_out,
    PlayerReturned: evolve_seats.returned,
    LeaveRequested: evolve_seats.leave_requested,
    PlayerLeft: evolve_seats.left,
    DeadlinesRenewed: _renewed,
    TableHalted: evolve_seats.halted,
    TableResumed: evolve_seats.resumed,
    HandCorrected: evolve_seats.corrected,
    TableClosing: evolve_seats.closing,
    BankReturned: evolve_seats.bank_returned,
    TableClosed: evolve_seats.closed,
    CardsDealt: _dealt,
    TrumpTurned: _hand_event,
    CardsLooked: _looked,
    Declared: _acted,
    CardsDiscarded: _acted,
    CardsDrawn: _acted,
    BankToppedUp: _hand_event,
    TimeBankUsed: _hand_event,
    FourAcesShown: _hand_event,
    CardPlayed: _acted,
    TrickTaken: _hand_event,
    SharePaid: _hand_event,
    CommissionTaken: _hand_event,
    FinePaid: _hand_event,
    HandSettled: _settled,
    VoidProposed: _void_proposed,
    HandVoided: _voided,
    SeedDisclosed: evolve_seats.disclosed,
}
"""Complete over `TABLE_EVENTS`; a test checks it."""

MONEY = (BankToppedUp, SharePaid, CommissionTaken, FinePaid, HandSettled, HandVoided)
"""What of a hand moves its money or ends it."""

HANDLED = frozenset(_HANDLERS)
