"""A table's event, applied. It cannot refuse: what is recorded happened. Source: rulebook T, S2.

A fold may begin at any event of `OPENINGS`: these replace the whole state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

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
    DealtIn,
    Declared,
    Departure,
    Event,
    FinePaid,
    FourAcesShown,
    Halt,
    HandCommitted,
    HandSettled,
    HandStarted,
    HandVoided,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PlayerSatOut,
    PurseToppedUp,
    Result,
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
from domain.evolve_hand import evolve_hand
from domain.hand import Hand, Player, asked
from domain.legal import forced
from domain.table import (
    ACTS_WINDOW_MS,
    Acts,
    NextHand,
    Proposal,
    ShuffleInputs,
    Table,
    binding,
    may_start,
    seat_at,
    short,
)


def evolve(table: Table | None, event: Event, at_ms: int) -> Table:
    """The table after `event`, which was recorded at `at_ms`. `table` is None before an opening event."""
    opening = _OPENING.get(type(event))
    if opening is not None:
        return opening(event, at_ms)
    assert table is not None, event
    return _HANDLERS[type(event)](table, event, at_ms)


# --- openings


def _opened(event: TableOpened, at_ms: int) -> Table:
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


def _state_written(event: TableStateWritten, at_ms: int) -> Table:
    next_hand = NextHand(
        hand_id=event.hand_id,
        commitment=event.commitment,
        server_seed=event.server_seed,
        client_seeds=event.client_seeds,
    )
    return replace(_from_record(event.table, at_ms), next_hand=next_hand)


def _hand_started(event: HandStarted, at_ms: int) -> Table:
    table = _from_record(event.table, at_ms)
    settings = table.settings
    players = tuple(
        Player(
            seat=s.seat,
            player=s.player,
            purse=s.purse - event.ante,
            paid_in=event.ante,
            time_bank_ms=settings.time_bank_ms,
        )
        for s in table.seats
        if s.seat in event.dealt_in
    )
    hand = Hand(
        hand_id=event.hand_id,
        options=settings.options,
        rules=settings.rules,
        stake=settings.stake,
        commission_bps=settings.commission_bps,
        players=players,
        dealer=event.dealer,
        carried=table.carried_bank,
        bank=table.carried_bank + event.ante * len(players),
    )
    shuffle = ShuffleInputs(server_seed=event.server_seed, client_seeds=event.client_seeds)
    return replace(table, hand=hand, shuffle=shuffle, ready_at_ms=None)


_OPENING: dict[type[Event], Callable[[Any, int], Table]] = {
    TableOpened: _opened,
    TableStateWritten: _state_written,
    HandStarted: _hand_started,
}


# --- between hands


def _next(table: Table, at_ms: int, **changes: Any) -> Table:
    """The table with `changes`, its clock and its readiness brought up to `at_ms`."""
    after = replace(table, at_ms=at_ms, since_state=table.since_state + 1, **changes)
    if not may_start(after):
        return after if after.ready_at_ms is None else replace(after, ready_at_ms=None)
    return after if after.ready_at_ms is not None else replace(after, ready_at_ms=at_ms)


def _with_seat(table: Table, seat: int, **changes: Any) -> tuple[Seat, ...]:
    return tuple(replace(s, **changes) if s.seat == seat else s for s in table.seats)


def _counted(table: Table, player: str, at_ms: int) -> tuple[Acts, ...]:
    """The acts between hands with one more of `player`'s; those of an earlier minute are forgotten."""
    fresh = [a for a in table.acts if at_ms - a.since_ms < ACTS_WINDOW_MS]
    mine = next((a for a in fresh if a.player == player), Acts(player=player, count=0, since_ms=at_ms))
    return (*(a for a in fresh if a.player != player), replace(mine, count=mine.count + 1))


def _idle(table: Table, seat: Seat, at_ms: int) -> Seat:
    """T3: since when a seat has not been ready, counted afresh once it is ready again."""
    if not (seat.sitting_out or short(table, seat)):
        return replace(seat, idle_since_ms=None, idle_hands=0)
    return seat if seat.idle_since_ms is not None else replace(seat, idle_since_ms=at_ms)


def _rechecked(table: Table, seats: tuple[Seat, ...], at_ms: int) -> tuple[Seat, ...]:
    return tuple(_idle(table, s, at_ms) for s in seats)


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
        seats=_rechecked(table, seats, at_ms),
        departures=tuple(d for d in table.departures if d.player != event.player),
        acts=_counted(table, event.player, at_ms),
    )


def _topped_up(table: Table, event: PurseToppedUp, at_ms: int) -> Table:
    seats = tuple(replace(s, purse=s.purse + event.amount) if s.seat == event.seat else s for s in table.seats)
    acts = _counted(table, event.player, at_ms)
    return _next(table, at_ms, seats=_rechecked(table, seats, at_ms), acts=acts)


def _sat_out(table: Table, event: PlayerSatOut, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, sitting_out=True)
    acts = _counted(table, event.player, at_ms) if event.by == "player" else table.acts
    return _next(table, at_ms, seats=_rechecked(table, seats, at_ms), acts=acts)


def _returned(table: Table, event: PlayerReturned, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, sitting_out=False, expiries=0)
    acts = _counted(table, event.player, at_ms)
    return _next(table, at_ms, seats=_rechecked(table, seats, at_ms), acts=acts)


def _leave_requested(table: Table, event: LeaveRequested, at_ms: int) -> Table:
    return _next(table, at_ms, seats=_with_seat(table, event.seat, leaving=True))


def _left(table: Table, event: PlayerLeft, at_ms: int) -> Table:
    """T2: what he took away is kept in mind as long as it binds him."""
    gone = Departure(player=event.player, purse=event.purse, at_ms=at_ms, bank_no=table.bank_no)
    still = tuple(d for d in table.departures if d.player != event.player and binding(table, d, at_ms))
    return _next(
        table,
        at_ms,
        seats=tuple(s for s in table.seats if s.seat != event.seat),
        departures=(*still, gone),
        acts=_counted(table, event.player, at_ms),
    )


def _bank_returned(table: Table, event: BankReturned, at_ms: int) -> Table:
    return _next(table, at_ms, carried_bank=table.carried_bank - event.amount)


def _halted(table: Table, event: TableHalted, at_ms: int) -> Table:
    return _next(table, at_ms, halt=Halt(reason=event.reason, fault=event.fault))


def _resumed(table: Table, event: TableResumed, at_ms: int) -> Table:
    return _next(table, at_ms, halt=None)


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
    assert before is not None, event
    hand = evolve_hand(before, event)
    if hand.phase is before.phase or asked(hand) is None:
        return replace(table, hand=hand, at_ms=at_ms, since_state=table.since_state + 1)
    return replace(
        table, hand=hand, turn=table.turn + 1, opened_at_ms=at_ms, at_ms=at_ms, since_state=table.since_state + 1
    )


def _dealt(table: Table, event: CardsDealt, at_ms: int) -> Table:
    return replace(_hand_event(table, event, at_ms), deal_turn=table.turn + 1)


def _acted(table: Table, event: Declared | CardsDiscarded | CardsDrawn | CardPlayed | CardsLooked, at_ms: int) -> Table:
    """T11: an own action ends a streak of expiries; the clock's adds to it unless there was no choice."""
    after = _hand_event(table, event, at_ms)
    seat = seat_at(table, event.seat)
    if seat is None:
        return after
    if isinstance(event, CardsLooked) or event.by == "player":
        return after if not seat.expiries else replace(after, seats=_with_seat(table, seat.seat, expiries=0))
    assert table.hand is not None
    if forced(table.hand):
        return after
    return replace(after, seats=_with_seat(table, seat.seat, expiries=seat.expiries + 1))


def _settled(table: Table, event: HandSettled, at_ms: int) -> Table:
    hand = table.hand
    assert hand is not None
    dealt_in = tuple(DealtIn(seat=p.seat, player=p.player) for p in hand.players)
    shared = any(p.share for p in event.result.players)
    return _ended(
        table, event, event.result, at_ms, last_dealt_in=dealt_in, bank_no=table.bank_no + (1 if shared else 0)
    )


def _voided(table: Table, event: HandVoided, at_ms: int) -> Table:
    return _ended(table, event, event.result, at_ms)


def _ended(table: Table, event: HandSettled | HandVoided, result: Result, at_ms: int, **changes: Any) -> Table:
    assert table.hand is not None
    purses = {p.seat: p.purse for p in result.players}
    seats = tuple(replace(s, purse=purses.get(s.seat, s.purse)) for s in table.seats)
    return _next(
        table,
        at_ms,
        hand=evolve_hand(table.hand, event),
        shuffle=None,
        proposal=None,
        seats=_rechecked(table, seats, at_ms),
        carried_bank=result.carried_bank,
        dealer=result.next_dealer,
        hand_no=table.hand_no + 1,
        **changes,
    )


_HANDLERS: dict[type[Event], Callable[[Table, Any, int], Table]] = {
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
    TableClosing: _closing,
    BankReturned: _bank_returned,
    TableClosed: _closed,
    CardsDealt: _dealt,
    TrumpTurned: _hand_event,
    CardsLooked: _acted,
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
"""With `_OPENING`, complete over `TABLE_EVENTS`; a test checks it."""

HANDLED = frozenset(_HANDLERS) | frozenset(_OPENING)
