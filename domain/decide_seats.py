"""Commands about seats, purses and the table itself → events. Source: rulebook T1 to T3, T13, S2."""

from __future__ import annotations

from typing import Literal

from domain.commands import (
    AutoTopUp,
    CloseTable,
    CompleteClose,
    CompleteLeave,
    HaltTable,
    Leave,
    RemoveIdle,
    ResumeTable,
    Return,
    SetClientSeed,
    Sit,
    SitOut,
    TopUp,
)
from domain.events import (
    BankReturned,
    ClientSeedSet,
    Event,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PlayerSatOut,
    PurseToppedUp,
    Seat,
    TableClosed,
    TableClosing,
    TableHalted,
    TableResumed,
)
from domain.money import TABLE_LIMIT, split_evenly
from domain.refusal import Refused
from domain.seeds import disclose
from domain.table import (
    ACTS_LIMIT,
    ACTS_WINDOW_MS,
    IDLE_HANDS,
    IDLE_MS,
    Table,
    idle,
    in_hand,
    least_buy_in,
    money,
    running,
    seat_of,
    seated,
)

Events = tuple[Event, ...]


def _too_many(table: Table, player: str, at_ms: int) -> Refused | None:
    for acts in table.acts:
        if acts.player == player and at_ms - acts.since_ms < ACTS_WINDOW_MS and acts.count >= ACTS_LIMIT:
            return Refused("too_many_requests", "T3", f"{ACTS_LIMIT} acts a minute between hands are allowed")
    return None


def set_client_seed(table: Table, command: SetClientSeed) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if table.next_hand is None or running(table) is not None:
        return Refused("not_offered", "S2", "a seed is for the next hand; none is committed to while a hand runs")
    if command.hand_id not in (None, table.next_hand.hand_id):
        detail = f"the next hand is {table.next_hand.hand_id}, not {command.hand_id}"
        return Refused("not_offered", "S2", detail)
    too_many = _too_many(table, command.player, command.at_ms)
    if too_many is not None:
        return too_many
    hand_id = table.next_hand.hand_id
    return (ClientSeedSet(hand_id=hand_id, player=command.player, client_seed=command.client_seed),)


def sit(table: Table, command: Sit) -> Events | Refused:
    if seat_of(table, command.player) is not None:
        return Refused("already_seated", "T2", f"{command.player} sits at this table already")
    if table.closing:
        return Refused("table_closing", "T13", "the table is closing")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"the table is halted: {table.halt.reason}")
    taken = {s.seat for s in table.seats}
    free = [n for n in range(table.settings.max_seats) if n not in taken]
    if command.seat is not None and command.seat in taken:
        return Refused("seat_taken", "T2", f"seat {command.seat} is taken; free: {free}")
    if not free or (command.seat is not None and command.seat not in free):
        return Refused("table_full", "T1", f"no seat {command.seat} at this table; free: {free}")
    least = least_buy_in(table, command.player, command.at_ms)
    if command.buy_in < least:
        return Refused("below_entry_limit", "T2", f"{command.buy_in} brought, at least {least} is asked")
    refused = _past_limit(table, command.buy_in) or _too_many(table, command.player, command.at_ms)
    if refused is not None:
        return refused
    seat = free[0] if command.seat is None else command.seat
    sat = PlayerSat(seat=seat, player=command.player, buy_in=command.buy_in, auto_top_up=command.auto_top_up)
    return (sat,)


def _past_limit(table: Table, amount: int) -> Refused | None:
    if amount <= TABLE_LIMIT - money(table):
        return None
    return Refused("table_limit", "T1", f"purses and bank of a table together never pass {TABLE_LIMIT}")


def top_up(table: Table, command: TopUp) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if in_hand(table, seat.seat):
        return Refused("in_hand", "T3", "a purse is topped up between hands")
    if table.closing:
        return Refused("table_closing", "T13", "the table is closing")
    if seat.leaving:
        return Refused("not_offered", "T3", "he leaves already")
    refused = _past_limit(table, command.amount) or _too_many(table, command.player, command.at_ms)
    return refused or (PurseToppedUp(seat=seat.seat, player=seat.player, amount=command.amount),)


def auto_top_up(table: Table, command: AutoTopUp) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    lacking = seat.buy_in - seat.purse
    if not seat.auto_top_up or seat.leaving or lacking <= 0 or in_hand(table, seat.seat) or table.closing:
        return Refused("not_offered", "T3", "nothing to top up")
    return _past_limit(table, lacking) or (PurseToppedUp(seat=seat.seat, player=seat.player, amount=lacking),)


def sit_out(table: Table, command: SitOut) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if seat.sitting_out or seat.leaving:
        return Refused("not_offered", "T3", "he sits out or leaves already")
    return _too_many(table, command.player, command.at_ms) or (PlayerSatOut(seat=seat.seat, player=seat.player),)


def come_back(table: Table, command: Return) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if not seat.sitting_out or seat.leaving:
        return Refused("not_offered", "T3", "he does not sit out, or leaves already")
    return _too_many(table, command.player, command.at_ms) or (PlayerReturned(seat=seat.seat, player=seat.player),)


def leave(table: Table, command: Leave) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if seat.leaving:
        return Refused("not_offered", "T3", "he leaves already")
    if in_hand(table, seat.seat) or table.halt is not None:
        return (LeaveRequested(seat=seat.seat, player=seat.player),)
    return _gone(table, seat, "left")


def complete_leave(table: Table, command: CompleteLeave) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if not seat.leaving:
        return Refused("not_offered", "T3", "he has not asked to leave")
    if in_hand(table, seat.seat):
        return Refused("in_hand", "T3", "a hand with him runs")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    return _gone(table, seat, "left")


def idle_due_ms(table: Table, seat: Seat) -> int | None:
    """T3: when who sits out or is short is made to leave: after 10 minutes, or at once after 20 whole hands.

    None for who is ready, however long he was not: he waits for a hand, which may lack others.
    """
    if seat.idle_since_ms is None or not idle(table, seat):
        return None
    whole = seat.idle_hands - (1 if running(table) is not None else 0)
    return seat.idle_since_ms + (0 if whole >= IDLE_HANDS else IDLE_MS)


def remove_idle(table: Table, command: RemoveIdle) -> Events | Refused:
    seat = seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    due = idle_due_ms(table, seat)
    if due is None or command.at_ms < due or in_hand(table, seat.seat):
        return Refused("not_offered", "T3", "he has not been idle for so long")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    return _gone(table, seat, "idle")


def _gone(table: Table, seat: Seat, reason: Literal["left", "idle"]) -> Events:
    """T3, T13: the purse goes back, and with the last player the carried bank."""
    left = PlayerLeft(seat=seat.seat, player=seat.player, purse=seat.purse, reason=reason)
    last = len(table.seats) == 1
    return (left, *(bank_returned(table) if last else ()))


def bank_returned(table: Table) -> Events:
    """T13: to those dealt into the last settled hand, the remainder from the lowest seat."""
    if not table.carried_bank:
        return ()
    to = sorted(table.last_dealt_in, key=lambda d: d.seat)
    parts = zip(to, split_evenly(table.carried_bank, len(to)), strict=True)
    return tuple(BankReturned(seat=d.seat, player=d.player, amount=part) for d, part in parts if part)


def halt(table: Table, command: HaltTable) -> Events | Refused:
    if table.halt is not None and (table.halt.fault or not command.fault):
        return Refused("table_halted", "T3", f"the table is halted already: {table.halt.reason}")
    return (TableHalted(reason=command.reason, fault=command.fault),)


def resume(table: Table, command: ResumeTable) -> Events | Refused:
    if table.halt is None:
        return Refused("not_offered", "T3", "the table is not halted")
    if command.books_differ:
        detail = "the books differ: a dispute of the wrong hand corrects it (R5), or it is voided while it runs (T12)"
        return Refused("not_offered", "R5", detail)
    return (TableResumed(reason=command.reason),)


def close(table: Table, command: CloseTable) -> Events | Refused:
    if table.closing:
        return Refused("table_closing", "T13", "the table is closing already")
    return (TableClosing(reason=command.reason),)


def complete_close(table: Table, command: CompleteClose) -> Events | Refused:
    if not table.closing:
        return Refused("not_offered", "T13", "the table is not closing")
    if running(table) is not None:
        return Refused("in_hand", "T13", "a hand runs")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    left = [PlayerLeft(seat=s.seat, player=s.player, purse=s.purse, reason="closed") for s in table.seats]
    disclosed: Events = ()
    if table.next_hand is not None:
        disclosed = disclose(table, table.next_hand.hand_id, table.next_hand.server_seed, used=False)
    return (*left, *bank_returned(table), *disclosed, TableClosed())
