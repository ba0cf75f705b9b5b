"""A table's event, applied. It cannot refuse: what is recorded happened. Source: rulebook T, S2.

A fold may begin at any event of `OPENINGS`: these replace the whole state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

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
    Departure,
    Event,
    FinePaid,
    FourAcesShown,
    Halt,
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
    Seat,
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
from domain.evolve_hand import evolve_hand, opening
from domain.hand import asked
from domain.legal import forced
from domain.table import (
    ACTS_WINDOW_MS,
    Acts,
    NextHand,
    Proposal,
    ShuffleInputs,
    Table,
    binding,
    in_hand,
    may_start,
    seat_at,
    short,
)


def evolve(table: Table | None, event: Event, at_ms: int) -> Table:
    """The table after `event`, which was recorded at `at_ms`. `table` is None before an opening event."""
    assert table is not None or isinstance(event, OPENINGS), type(event)
    return _HANDLERS[type(event)](table, event, at_ms)


# --- openings


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


# --- between hands


def _next(table: Table, at_ms: int, **changes: Any) -> Table:
    """The table with `changes`, its clock and its readiness brought up to `at_ms`."""
    after = replace(table, at_ms=at_ms, since_state=table.since_state + 1, **changes)
    if not may_start(after):
        return after if after.ready_at_ms is None else replace(after, ready_at_ms=None)
    return after if after.ready_at_ms is not None else replace(after, ready_at_ms=at_ms)


def _counted(table: Table, player: str, at_ms: int) -> tuple[Acts, ...]:
    """The acts between hands with one more of `player`'s; those of an earlier minute are forgotten."""
    fresh = [a for a in table.acts if at_ms - a.since_ms < ACTS_WINDOW_MS]
    mine = next((a for a in fresh if a.player == player), Acts(player=player, count=0, since_ms=at_ms))
    return (*(a for a in fresh if a.player != player), replace(mine, count=mine.count + 1))


def _idle(table: Table, seat: Seat, at_ms: int) -> Seat:
    """T3: since when a seat has not been ready, counted afresh once it is ready again."""
    if not (seat.sitting_out or short(table, seat)):
        return seat if seat.idle_since_ms is None else replace(seat, idle_since_ms=None, idle_hands=0)
    return seat if seat.idle_since_ms is not None else replace(seat, idle_since_ms=at_ms)


def _with_seat(table: Table, seat: int, at_ms: int, **changes: Any) -> tuple[Seat, ...]:
    """The seats with `changes` to one. T3: one who is dealt in is not idle yet, it takes effect after the hand."""
    before = seat_at(table, seat)
    assert before is not None, seat
    after = replace(before, **changes)
    if not in_hand(table, seat):
        after = _idle(table, after, at_ms)
    return tuple([after if s is before else s for s in table.seats])


def _committed(table: Table, event: HandCommitted, at_ms: int) -> Table:
    next_hand = NextHand(hand_id=event.hand_id, commitment=event.commitment, server_seed=event.server_seed)
    return _next(table, at_ms, next_hand=next_hand)


def _client_seed_set(table: Table, event: ClientSeedSet, at_ms: int) -> Table:
    assert table.next_hand is not None
    others = tuple(p for p in table.next_hand.client_seeds if p[0] != event.player)
    next_hand = replace(table.next_hand, client_seeds=(*others, (event.player, event.client_seed)))
    return _next(table, at_ms, next_hand=next_hand, acts=_counted(table, event.player, at_ms))


def _sat(table: Table, event: PlayerSat, at_ms: int) -> Table:
    seat = Seat(
        seat=event.seat,
        player=event.player,
        purse=event.buy_in,
        buy_in=event.buy_in,
        auto_top_up=event.auto_top_up,
    )
    seats = tuple(sorted((*table.seats, seat), key=lambda s: s.seat))
    return _next(
        table,
        at_ms,
        seats=seats,
        departures=tuple(d for d in table.departures if d.player != event.player),
        acts=_counted(table, event.player, at_ms),
    )


def _topped_up(table: Table, event: PurseToppedUp, at_ms: int) -> Table:
    before = seat_at(table, event.seat)
    assert before is not None, type(event)
    seats = _with_seat(table, event.seat, at_ms, purse=before.purse + event.amount)
    return _next(table, at_ms, seats=seats, acts=_counted(table, event.player, at_ms))


def _sat_out(table: Table, event: PlayerSatOut, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, at_ms, sitting_out=True)
    acts = _counted(table, event.player, at_ms) if event.by == "player" else table.acts
    return _next(table, at_ms, seats=seats, acts=acts)


def _returned(table: Table, event: PlayerReturned, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, at_ms, sitting_out=False, expiries=0)
    return _next(table, at_ms, seats=seats, acts=_counted(table, event.player, at_ms))


def _leave_requested(table: Table, event: LeaveRequested, at_ms: int) -> Table:
    return _next(table, at_ms, seats=_with_seat(table, event.seat, at_ms, leaving=True))


def _left(table: Table, event: PlayerLeft, at_ms: int) -> Table:
    """T2: what he took away is kept in mind as long as it binds him. T14: the deal goes on from who leaves."""
    gone = Departure(player=event.player, purse=event.purse, at_ms=at_ms, bank_no=table.bank_no)
    still = tuple(d for d in table.departures if d.player != event.player and binding(table, d, at_ms))
    return _next(
        table,
        at_ms,
        seats=tuple(s for s in table.seats if s.seat != event.seat),
        departures=(*still, gone),
        dealer=event.seat + 1 if table.dealer == event.seat else table.dealer,
        acts=_counted(table, event.player, at_ms),
    )


def _bank_returned(table: Table, event: BankReturned, at_ms: int) -> Table:
    return _next(table, at_ms, carried_bank=table.carried_bank - event.amount)


def _halted(table: Table, event: TableHalted, at_ms: int) -> Table:
    return _next(table, at_ms, halt=Halt(reason=event.reason, fault=event.fault))


def _resumed(table: Table, event: TableResumed, at_ms: int) -> Table:
    return _next(table, at_ms, halt=None)


def _corrected(table: Table, event: HandCorrected, at_ms: int) -> Table:
    """R5: what was moved is in the purses and the bank; the halt of the books ends with the last correction."""
    moved = {p.player: p.moved for p in event.players if p.to == "purse"}
    seats = (replace(s, purse=s.purse + moved.get(s.player, 0)) for s in table.seats)
    lifted = event.resumes and table.halt is not None and table.halt.fault
    return _next(
        table,
        at_ms,
        seats=tuple([_idle(table, s, at_ms) for s in seats]),
        carried_bank=table.carried_bank + event.bank_moved,
        halt=None if lifted else table.halt,
    )


def _closing(table: Table, event: TableClosing, at_ms: int) -> Table:
    return _next(table, at_ms, closing=True)


def _closed(table: Table, event: TableClosed, at_ms: int) -> Table:
    return _next(table, at_ms, closed=True, next_hand=None)


def _disclosed(table: Table, event: SeedDisclosed, at_ms: int) -> Table:
    return _next(table, at_ms)


# --- a hand runs


def _renewed(table: Table, event: DeadlinesRenewed, at_ms: int) -> Table:
    return _next(table, at_ms, opened_at_ms=at_ms)


def _void_proposed(table: Table, event: VoidProposed, at_ms: int) -> Table:
    proposal = Proposal(hand_id=event.hand_id, proposer=event.proposer, reason=event.reason)
    return _next(table, at_ms, proposal=proposal)


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
    paid = (replace(s, purse=purses.get(s.seat, s.purse)) for s in table.seats)
    return _next(
        table,
        at_ms,
        hand=evolve_hand(table.hand, event),
        shuffle=None,
        proposal=None,
        seats=tuple([_idle(table, s, at_ms) for s in paid]),
        carried_bank=result.carried_bank,
        dealer=result.next_dealer,
        hand_no=table.hand_no + 1,
        **changes,
    )


_HANDLERS: dict[type[Event], Callable[[Any, Any, int], Table]] = {
    TableOpened: _opened,
    TableStateWritten: _state_written,
    HandStarted: _hand_started,
    HandCommitted: _committed,
    ClientSeedSet: _client_seed_set,
    PlayerSat: _sat,
    PurseToppedUp: _topped_up,
    PlayerSatOut: _sat_out,
    PlayerReturned: _returned,
    LeaveRequested: _leave_requested,
    PlayerLeft: _left,
    DeadlinesRenewed: _renewed,
    TableHalted: _halted,
    TableResumed: _resumed,
    HandCorrected: _corrected,
    TableClosing: _closing,
    BankReturned: _bank_returned,
    TableClosed: _closed,
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
    SeedDisclosed: _disclosed,
}
"""Complete over `TABLE_EVENTS`; a test checks it."""

HANDLED = frozenset(_HANDLERS)
