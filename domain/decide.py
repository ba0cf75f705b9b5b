"""A command to a table → its events, or why it is refused. Source: rulebook T, S2, S6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from domain import shuffle
from domain.act import act, follow
from domain.cards import Card
from domain.commands import (
    Act,
    AutoTopUp,
    ClockAct,
    CloseTable,
    CompleteClose,
    CompleteLeave,
    Fresh,
    HaltTable,
    Leave,
    OpenTable,
    RemoveIdle,
    RenewDeadlines,
    ResumeTable,
    Return,
    SetClientSeed,
    Sit,
    SitOut,
    StartHand,
    TableCommand,
    TopUp,
    Void,
)
from domain.consequences import Decks, consequences, void
from domain.events import (
    BankReturned,
    ClientSeedSet,
    DeadlinesRenewed,
    Event,
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
    Seat,
    SeedDisclosed,
    TableClosed,
    TableClosing,
    TableHalted,
    TableOpened,
    TableResumed,
    TableStateWritten,
    TimeBankUsed,
    VoidProposed,
)
from domain.evolve import evolve
from domain.games import game_of
from domain.hand import Hand, asked, at, card_led, find
from domain.legal import clock_action
from domain.money import TABLE_LIMIT, split_evenly
from domain.refusal import Refused
from domain.table import (
    ACTS_LIMIT,
    ACTS_WINDOW_MS,
    IDLE_HANDS,
    IDLE_MS,
    STATE_EVERY,
    Table,
    deadline,
    in_hand,
    least_buy_in,
    may_start,
    money,
    ready,
    record,
    running,
    seat_of,
    start_due_ms,
)

Events = tuple[Event, ...]

EXPIRIES = 2
"""T11: after so many in a row he sits out."""


def decide(table: Table | None, command: TableCommand) -> Events | Refused:
    """The events of `command`. `table` is None where there is no such table yet; only OpenTable takes that.

    Raises AmountOverflow where an amount would pass 2^63 - 1, which T1's limit keeps from happening.
    """
    if isinstance(command, OpenTable):
        assert table is None, "a table opens once"
        return (TableOpened(settings=command.settings), _commit(command.fresh))
    assert table is not None, command
    if table.closed:
        return Refused("table_closing", "T13", "the table is closed")
    events = _DECIDERS[type(command)](table, command)
    return events if isinstance(events, Refused) else _with_state(table, events, command.at_ms)


def _with_state(table: Table, events: Events, at_ms: int) -> Events:
    """`events`, and the table's state where a fold would have to begin too far back otherwise."""
    if table.since_state + len(events) < STATE_EVERY:
        return events
    after = table
    for event in events:
        after = evolve(after, event, at_ms)
    if running(after) is not None or after.next_hand is None or after.since_state < STATE_EVERY:
        return events
    written = TableStateWritten(
        table=record(after),
        hand_id=after.next_hand.hand_id,
        commitment=after.next_hand.commitment,
        server_seed=after.next_hand.server_seed,
        client_seeds=after.next_hand.client_seeds,
    )
    return (*events, written)


def _commit(fresh: Fresh) -> HandCommitted:
    """S2."""
    commitment = shuffle.commitment(bytes.fromhex(fresh.server_seed), hand_bytes(fresh.hand_id))
    return HandCommitted(
        hand_id=fresh.hand_id,
        commitment=commitment.hex(),
        key_commitment=fresh.key_commitment,
        server_seed=fresh.server_seed,
    )


def hand_bytes(hand_id: str) -> bytes:
    """S1: the 16 bytes of a hand's id."""
    return bytes.fromhex(hand_id.replace("-", ""))


# --- between hands


def _too_many(table: Table, player: str, at_ms: int) -> Refused | None:
    for acts in table.acts:
        if acts.player == player and at_ms - acts.since_ms < ACTS_WINDOW_MS and acts.count >= ACTS_LIMIT:
            return Refused("too_many_requests", "T3", f"{ACTS_LIMIT} acts a minute between hands are allowed")
    return None


def _seated(table: Table, player: str) -> Seat | Refused:
    seat = seat_of(table, player)
    return seat or Refused("not_seated", "T3", f"{player} does not sit at this table")


def _set_client_seed(table: Table, command: SetClientSeed) -> Events | Refused:
    seat = _seated(table, command.player)
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


def _sit(table: Table, command: Sit) -> Events | Refused:
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
    room = TABLE_LIMIT - money(table)
    return None if amount <= room else Refused("table_limit", "T1", f"the table takes at most {room} more")


def _top_up(table: Table, command: TopUp) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if in_hand(table, seat.seat):
        return Refused("in_hand", "T3", "a purse is topped up between hands")
    if table.closing or seat.leaving:
        return Refused("table_closing", "T13", "the table is closing, or the seat is being left")
    refused = _past_limit(table, command.amount) or _too_many(table, command.player, command.at_ms)
    return refused or (PurseToppedUp(seat=seat.seat, player=seat.player, amount=command.amount),)


def _auto_top_up(table: Table, command: AutoTopUp) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    lacking = seat.buy_in - seat.purse
    if not seat.auto_top_up or seat.leaving or lacking <= 0 or in_hand(table, seat.seat) or table.closing:
        return Refused("not_offered", "T3", "nothing to top up")
    return _past_limit(table, lacking) or (PurseToppedUp(seat=seat.seat, player=seat.player, amount=lacking),)


def _sit_out(table: Table, command: SitOut) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if seat.sitting_out or seat.leaving:
        return Refused("not_offered", "T3", "he sits out or leaves already")
    return _too_many(table, command.player, command.at_ms) or (PlayerSatOut(seat=seat.seat, player=seat.player),)


def _return(table: Table, command: Return) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if not seat.sitting_out or seat.leaving:
        return Refused("not_offered", "T3", "he does not sit out, or leaves already")
    return _too_many(table, command.player, command.at_ms) or (PlayerReturned(seat=seat.seat, player=seat.player),)


def _leave(table: Table, command: Leave) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if seat.leaving:
        return Refused("not_offered", "T3", "he leaves already")
    if in_hand(table, seat.seat) or table.halt is not None:
        return (LeaveRequested(seat=seat.seat, player=seat.player),)
    return _gone(table, seat, "left")


def _complete_leave(table: Table, command: CompleteLeave) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if not seat.leaving or in_hand(table, seat.seat):
        return Refused("in_hand", "T3", "he does not leave, or a hand with him runs")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    return _gone(table, seat, "left")


def idle_too_long(table: Table, seat: Seat, at_ms: int) -> bool:
    """T3: sitting out or short for 20 hands or 10 minutes."""
    since = seat.idle_since_ms
    return since is not None and (at_ms - since >= IDLE_MS or seat.idle_hands >= IDLE_HANDS)


def _remove_idle(table: Table, command: RemoveIdle) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    if not idle_too_long(table, seat, command.at_ms) or in_hand(table, seat.seat):
        return Refused("not_offered", "T3", "he has not been idle for so long")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    return _gone(table, seat, "idle")


def _gone(table: Table, seat: Seat, reason: str) -> Events:
    """T3, T13: the purse goes back, and with the last player the carried bank."""
    assert reason in ("left", "idle", "closed")
    left = PlayerLeft(
        seat=seat.seat,
        player=seat.player,
        purse=seat.purse,
        reason="left" if reason == "left" else "idle" if reason == "idle" else "closed",
    )
    last = len(table.seats) == 1
    return (left, *(_bank_returned(table) if last else ()))


def _bank_returned(table: Table) -> Events:
    """T13: to those dealt into the last settled hand, the remainder from the lowest seat."""
    if not table.carried_bank:
        return ()
    to = sorted(table.last_dealt_in, key=lambda d: d.seat)
    parts = zip(to, split_evenly(table.carried_bank, len(to)), strict=True)
    return tuple(BankReturned(seat=d.seat, player=d.player, amount=part) for d, part in parts if part)


def _halt(table: Table, command: HaltTable) -> Events | Refused:
    if table.halt is not None and (table.halt.fault or not command.fault):
        return Refused("table_halted", "T3", f"the table is halted already: {table.halt.reason}")
    return (TableHalted(reason=command.reason, fault=command.fault),)


def _resume(table: Table, command: ResumeTable) -> Events | Refused:
    if table.halt is None:
        return Refused("not_offered", "T3", "the table is not halted")
    return (TableResumed(reason=command.reason),)


def _close(table: Table, command: CloseTable) -> Events | Refused:
    if table.closing:
        return Refused("table_closing", "T13", "the table is closing already")
    return (TableClosing(reason=command.reason),)


def _complete_close(table: Table, command: CompleteClose) -> Events | Refused:
    if not table.closing or running(table) is not None:
        return Refused("in_hand", "T13", "the table is not closing, or a hand runs")
    if table.halt is not None:
        return Refused("table_halted", "T3", f"purses stay put: {table.halt.reason}")
    left = [PlayerLeft(seat=s.seat, player=s.player, purse=s.purse, reason="closed") for s in table.seats]
    disclosed: Events = ()
    if table.next_hand is not None:
        disclosed = (_disclose(table, table.next_hand.hand_id, table.next_hand.server_seed, used=False),)
    return (*left, *_bank_returned(table), *disclosed, TableClosed())


def _disclose(table: Table, hand_id: str, server_seed: str, used: bool) -> SeedDisclosed:
    """S6."""
    to = table.settings.seed_disclosure
    return SeedDisclosed(hand_id=hand_id, to=to, used=used, server_seed=server_seed)


# --- a hand runs


def _decks(table: Table, hand: Hand) -> Decks:
    """S3 to S5, from the seeds of the running hand."""
    inputs = table.shuffle
    assert inputs is not None, hand.hand_id
    server_seed = bytes.fromhex(inputs.server_seed)
    client_seeds = tuple(bytes.fromhex(s) for s in inputs.client_seeds)
    size = game_of(hand.options, hand.rules).deck_size(hand.options, len(hand.players))

    def deck(deal_no: int) -> tuple[Card, ...]:
        return shuffle.deck(server_seed, hand_bytes(hand.hand_id), deal_no, client_seeds, size)

    return deck


def _start(table: Table, command: StartHand) -> Events | Refused:
    """T4, T5, T14, S2."""
    due = start_due_ms(table)
    if not may_start(table) or due is None or table.next_hand is None:
        return Refused("not_offered", "T4", "no hand can start: two ready players are needed")
    if command.at_ms < due:
        return Refused("not_offered", "T4", f"the next hand starts at {due}, it is {command.at_ms}")
    settings, next_hand = table.settings, table.next_hand
    dealt_in = tuple(s.seat for s in ready(table))
    seeds = dict(next_hand.client_seeds)
    client_seeds = tuple(seeds.get(s.player, "") for s in ready(table))
    everyone = settings.options.ante_policy == "every_hand"
    started = HandStarted(
        hand_id=next_hand.hand_id,
        commitment=next_hand.commitment,
        dealer=_dealer(table, dealt_in, client_seeds),
        dealt_in=dealt_in,
        ante=settings.stake if everyone or table.carried_bank == 0 else 0,
        client_seeds=client_seeds,
        table=replace(record(table), seats=_idle_counted(table, dealt_in), ready_at_ms=None),
        server_seed=next_hand.server_seed,
    )
    after = evolve(table, started, command.at_ms)
    assert after.hand is not None
    decks = _decks(after, after.hand)
    return (started, *follow(after.hand, consequences(after.hand, decks), decks))


def _dealer(table: Table, dealt_in: tuple[int, ...], client_seeds: tuple[str, ...]) -> int:
    """T14: by lot the first time, else the next dealer or the first dealt in clockwise from his seat."""
    assert table.next_hand is not None
    if table.dealer is None:
        seeds = tuple(bytes.fromhex(s) for s in client_seeds)
        server_seed = bytes.fromhex(table.next_hand.server_seed)
        return dealt_in[shuffle.first_dealer(server_seed, hand_bytes(table.next_hand.hand_id), seeds)]
    return next((s for s in dealt_in if s >= table.dealer), dealt_in[0])


def _idle_counted(table: Table, dealt_in: tuple[int, ...]) -> tuple[Seat, ...]:
    """T3: one more hand for those who are not dealt in."""
    return tuple(s if s.seat in dealt_in else replace(s, idle_hands=s.idle_hands + 1) for s in table.seats)


def _act(table: Table, command: Act) -> Events | Refused:
    seat = _seated(table, command.player)
    if isinstance(seat, Refused):
        return seat
    hand = running(table)
    if hand is None:
        return Refused("hand_over", "H3", "no hand runs; wait for the next one")
    player = find(hand, seat.seat)
    if player is None or player.player != command.player:
        return Refused("not_in_hand", "T4", f"{command.player} is not dealt into this hand")
    look = command.action.do == "look"
    if command.turn > table.turn or command.turn < (table.deal_turn if look else table.turn):
        return Refused("stale_turn", "T11", f"turn {command.turn} is not the open one, which is {table.turn}")
    events = act(hand, seat.seat, command.action, "player", _decks(table, hand))
    if isinstance(events, Refused):
        return events
    used = () if look else _overtime(table, hand, seat.seat, command.at_ms)
    return _closed_off(table, (*used, *events), command.at_ms, command.fresh)


def _overtime(table: Table, hand: Hand, seat: int, at_ms: int) -> Events:
    """T11: what the time bank pays of a decision that took longer than the turn."""
    due = deadline(table)
    left = at(hand, seat).time_bank_ms
    if due is None or not left or due.clock_acts_ms == due.turn_ends_ms or at_ms <= due.turn_ends_ms:
        return ()
    return (TimeBankUsed(seat=seat, ms=min(at_ms - due.turn_ends_ms, left)),)


def _clock_act(table: Table, command: ClockAct) -> Events | Refused:
    hand, due = running(table), deadline(table)
    if hand is None or due is None or command.turn != table.turn:
        return Refused("stale_turn", "T11", f"turn {command.turn} is not the open one, which is {table.turn}")
    if command.at_ms < due.clock_acts_ms:
        return Refused("not_offered", "T11", f"the clock acts at {due.clock_acts_ms}, it is {command.at_ms}")
    events = act(hand, due.seat, clock_action(hand), "clock", _decks(table, hand))
    assert not isinstance(events, Refused), events
    used = _overtime(table, hand, due.seat, command.at_ms)
    return _closed_off(table, (*used, *events), command.at_ms, command.fresh)


def _closed_off(table: Table, events: Events, at_ms: int, fresh: Fresh) -> Events:
    """T11, S2, S6: after the last event of a hand, its seed, the next commitment, and who sits out from now on."""
    if not isinstance(events[-1], HandSettled | HandVoided):
        return events
    assert table.hand is not None
    assert table.shuffle is not None
    after = table
    for event in events:
        after = evolve(after, event, at_ms)
    sat_out = tuple(
        PlayerSatOut(seat=s.seat, player=s.player, by="clock")
        for s in after.seats
        if s.expiries >= EXPIRIES and not s.sitting_out and not s.leaving
    )
    disclosed = _disclose(table, table.hand.hand_id, table.shuffle.server_seed, used=True)
    return (*events, disclosed, *sat_out, _commit(fresh))


def _renew(table: Table, command: RenewDeadlines) -> Events | Refused:
    hand = running(table)
    if hand is None or asked(hand) is None or command.turn != table.turn:
        return Refused("stale_turn", "T11", f"turn {command.turn} is not open")
    return (DeadlinesRenewed(),)


def _void(table: Table, command: Void) -> Events | Refused:
    """T12."""
    hand = running(table)
    if hand is None:
        return Refused("hand_over", "T12", "no hand runs")
    if card_led(hand) and not (table.halt is not None and table.halt.fault):
        return Refused("not_offered", "T12", "a card was led: only a fault alarm lets this hand be voided")
    if table.proposal is None or table.proposal.hand_id != hand.hand_id:
        return (VoidProposed(hand_id=hand.hand_id, reason=command.reason, proposer=command.ops),)
    if table.proposal.proposer == command.ops:
        return Refused("two_persons", "T12", f"{command.ops} proposed it; another of ops must confirm")
    ops = (table.proposal.proposer, command.ops)
    return _closed_off(table, (void(hand, "ops", table.proposal.reason, ops),), command.at_ms, command.fresh)


_DECIDERS: dict[type, Callable[[Table, Any], Events | Refused]] = {
    SetClientSeed: _set_client_seed,
    Sit: _sit,
    TopUp: _top_up,
    AutoTopUp: _auto_top_up,
    SitOut: _sit_out,
    Return: _return,
    Leave: _leave,
    CompleteLeave: _complete_leave,
    RemoveIdle: _remove_idle,
    HaltTable: _halt,
    ResumeTable: _resume,
    CloseTable: _close,
    CompleteClose: _complete_close,
    StartHand: _start,
    Act: _act,
    ClockAct: _clock_act,
    RenewDeadlines: _renew,
    Void: _void,
}
"""Complete over `TableCommand` but for OpenTable; a test checks it."""
