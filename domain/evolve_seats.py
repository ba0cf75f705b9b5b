"""An event between hands, applied: seats, purses, and the table itself. Source: rulebook T, S2."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from domain.events import (
    BankReturned,
    ClientSeedSet,
    Departure,
    Halt,
    HandCommitted,
    HandCorrected,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PlayerSatOut,
    PurseToppedUp,
    Seat,
    SeedDisclosed,
    TableClosed,
    TableClosing,
    TableHalted,
    TableResumed,
)
from domain.table import (
    ACTS_WINDOW_MS,
    Acts,
    NextHand,
    Table,
    binding,
    idle,
    in_hand,
    may_start,
    seat_at,
)


def advanced(table: Table, at_ms: int, **changes: Any) -> Table:
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


def idle_since(table: Table, before: Seat, after: Seat, at_ms: int) -> Seat:
    """T3: since when a seat has not been ready; while it is ready, for how long it had not been. Counted on later.

    It is counted anew when he is dealt in, and not before: who returns and sits out again is idle all the same.
    """
    counted = after.idle_since_ms
    if counted is None:
        return replace(after, idle_since_ms=at_ms) if idle(table, after) else after
    # Back and forth are the same: a time until now is a duration, a duration until now a time.
    return after if idle(table, before) == idle(table, after) else replace(after, idle_since_ms=at_ms - counted)


def _with_seat(table: Table, seat: int, at_ms: int, **changes: Any) -> tuple[Seat, ...]:
    """The seats with `changes` to one. T3: one who is dealt in is not idle yet, it takes effect after the hand."""
    before = seat_at(table, seat)
    assert before is not None, seat
    after = replace(before, **changes)
    if not in_hand(table, seat):
        after = idle_since(table, before, after, at_ms)
    return tuple([after if s is before else s for s in table.seats])


def committed(table: Table, event: HandCommitted, at_ms: int) -> Table:
    next_hand = NextHand(hand_id=event.hand_id, commitment=event.commitment, server_seed=event.server_seed)
    return advanced(table, at_ms, next_hand=next_hand)


def client_seed_set(table: Table, event: ClientSeedSet, at_ms: int) -> Table:
    assert table.next_hand is not None
    others = tuple(p for p in table.next_hand.client_seeds if p[0] != event.player)
    next_hand = replace(table.next_hand, client_seeds=(*others, (event.player, event.client_seed)))
    return advanced(table, at_ms, next_hand=next_hand, acts=_counted(table, event.player, at_ms))


def sat(table: Table, event: PlayerSat, at_ms: int) -> Table:
    seat = Seat(
        seat=event.seat,
        player=event.player,
        purse=event.buy_in,
        buy_in=event.buy_in,
        auto_top_up=event.auto_top_up,
    )
    seats = tuple(sorted((*table.seats, seat), key=lambda s: s.seat))
    return advanced(
        table,
        at_ms,
        seats=seats,
        departures=tuple(d for d in table.departures if d.player != event.player),
        acts=_counted(table, event.player, at_ms),
    )


def topped_up(table: Table, event: PurseToppedUp, at_ms: int) -> Table:
    before = seat_at(table, event.seat)
    assert before is not None, type(event)
    seats = _with_seat(table, event.seat, at_ms, purse=before.purse + event.amount)
    return advanced(table, at_ms, seats=seats, acts=_counted(table, event.player, at_ms))


def sat_out(table: Table, event: PlayerSatOut, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, at_ms, sitting_out=True)
    acts = _counted(table, event.player, at_ms) if event.by == "player" else table.acts
    return advanced(table, at_ms, seats=seats, acts=acts)


def returned(table: Table, event: PlayerReturned, at_ms: int) -> Table:
    seats = _with_seat(table, event.seat, at_ms, sitting_out=False, expiries=0)
    return advanced(table, at_ms, seats=seats, acts=_counted(table, event.player, at_ms))


def leave_requested(table: Table, event: LeaveRequested, at_ms: int) -> Table:
    return advanced(table, at_ms, seats=_with_seat(table, event.seat, at_ms, leaving=True))


def left(table: Table, event: PlayerLeft, at_ms: int) -> Table:
    """T2: what he took away is kept in mind as long as it binds him. T14: the deal goes on from who leaves."""
    gone = Departure(player=event.player, purse=event.purse, at_ms=at_ms, bank_no=table.bank_no)
    still = tuple(d for d in table.departures if d.player != event.player and binding(table, d, at_ms))
    return advanced(
        table,
        at_ms,
        seats=tuple(s for s in table.seats if s.seat != event.seat),
        departures=(*still, gone),
        dealer=event.seat + 1 if table.dealer == event.seat else table.dealer,
        acts=_counted(table, event.player, at_ms),
    )


def bank_returned(table: Table, event: BankReturned, at_ms: int) -> Table:
    return advanced(table, at_ms, carried_bank=table.carried_bank - event.amount)


def halted(table: Table, event: TableHalted, at_ms: int) -> Table:
    return advanced(table, at_ms, halt=Halt(reason=event.reason, fault=event.fault))


def resumed(table: Table, event: TableResumed, at_ms: int) -> Table:
    return advanced(table, at_ms, halt=None)


def corrected(table: Table, event: HandCorrected, at_ms: int) -> Table:
    """R5: what was moved is in the purses and the bank; the halt of the books ends with the last correction."""
    moved = {p.player: p.moved for p in event.players if p.to == "purse"}
    seats = ((s, replace(s, purse=s.purse + moved.get(s.player, 0))) for s in table.seats)
    lifted = event.resumes and table.halt is not None and table.halt.fault
    return advanced(
        table,
        at_ms,
        seats=tuple([idle_since(table, before, after, at_ms) for before, after in seats]),
        carried_bank=table.carried_bank + event.bank_moved,
        halt=None if lifted else table.halt,
    )


def closing(table: Table, event: TableClosing, at_ms: int) -> Table:
    return advanced(table, at_ms, closing=True)


def closed(table: Table, event: TableClosed, at_ms: int) -> Table:
    return advanced(table, at_ms, closed=True, next_hand=None)


def disclosed(table: Table, event: SeedDisclosed, at_ms: int) -> Table:
    return advanced(table, at_ms)
