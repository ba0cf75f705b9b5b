"""Commands about the running hand, and the start of one → events. Source: rulebook T4, T5, T11, T12, T14, S."""

from __future__ import annotations

from msgspec.structs import replace

from domain import shuffle
from domain.act import recorded
from domain.cards import Card
from domain.commands import Act, ClockAct, CommitAnew, Fresh, RenewDeadlines, StartHand, Void
from domain.consequences import Decks, void
from domain.course import Course
from domain.events import (
    DeadlinesRenewed,
    Event,
    HandStarted,
    PlayerSatOut,
    Seat,
    TimeBankUsed,
    VoidProposed,
)
from domain.games import game_of
from domain.hand import Hand, asked, at, card_led, find
from domain.legal import clock_action, judge
from domain.money import ante
from domain.refusal import Refused
from domain.seeds import commit, disclose, hand_bytes
from domain.table import Table, deadline, may_start, ready, record, running, seated, start_due_ms

Events = tuple[Event, ...]

EXPIRIES = 2
"""T11: after so many in a row he sits out."""


def _decks(table: Table) -> Decks:
    """S3 to S5, from the seeds of the running hand; most actions need no deck."""
    hand, inputs = table.hand, table.shuffle
    assert hand is not None
    assert inputs is not None, hand.hand_id

    def deck(deal_no: int) -> tuple[Card, ...]:
        server_seed = bytes.fromhex(inputs.server_seed)
        client_seeds = tuple(bytes.fromhex(s) for s in inputs.client_seeds)
        size = game_of(hand.options, hand.rules).deck_size(hand.options, len(hand.players))
        return shuffle.deck(server_seed, hand_bytes(hand.hand_id), deal_no, client_seeds, size)

    return deck


def start(table: Table, command: StartHand) -> Course | Refused:
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
    started = HandStarted(
        hand_id=next_hand.hand_id,
        commitment=next_hand.commitment,
        dealer=_dealer(table, dealt_in, client_seeds),
        dealt_in=dealt_in,
        ante=ante(settings.options.ante_policy, settings.stake, table.carried_bank),
        client_seeds=client_seeds,
        table=replace(record(table), seats=_idle_counted(table, dealt_in), ready_at_ms=None),
        server_seed=next_hand.server_seed,
    )
    course = Course(table, command.at_ms, (started,))
    course.follow(_decks(course.table))
    return course


def _dealer(table: Table, dealt_in: tuple[int, ...], client_seeds: tuple[str, ...]) -> int:
    """T14: by lot the first time, else the next dealer or the first dealt in clockwise from his seat."""
    assert table.next_hand is not None
    if table.dealer is None:
        seeds = tuple(bytes.fromhex(s) for s in client_seeds)
        server_seed = bytes.fromhex(table.next_hand.server_seed)
        return dealt_in[shuffle.first_dealer(server_seed, hand_bytes(table.next_hand.hand_id), seeds)]
    return next((s for s in dealt_in if s >= table.dealer), dealt_in[0])


def _idle_counted(table: Table, dealt_in: tuple[int, ...]) -> tuple[Seat, ...]:
    """T3: one more hand for those who are not dealt in; for those who are it is counted anew."""
    return tuple(
        replace(s, idle_hands=0, idle_since_ms=None) if s.seat in dealt_in else replace(s, idle_hands=s.idle_hands + 1)
        for s in table.seats
    )


def act_on(table: Table, command: Act) -> Course | Refused:
    seat = seated(table, command.player)
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
    refused = judge(hand, seat.seat, command.action)
    if refused is not None:
        return refused
    used = () if look else _overtime(table, hand, seat.seat, command.at_ms)
    events = (*used, *recorded(hand, seat.seat, command.action, "player"))
    return _played_on(table, events, command.at_ms, command.fresh)


def _overtime(table: Table, hand: Hand, seat: int, at_ms: int) -> Events:
    """T11: what the time bank pays of a decision that took longer than the turn."""
    over = at_ms - table.opened_at_ms - table.settings.turn_ms
    left = at(hand, seat).time_bank_ms
    if over <= 0 or not left:
        return ()
    due = deadline(table)
    assert due is not None, seat
    # Where the time is 1 s or none at all, the time bank has no part.
    return (TimeBankUsed(seat=seat, ms=min(over, left)),) if due.clock_acts_ms > due.turn_ends_ms else ()


def clock_act(table: Table, command: ClockAct) -> Course | Refused:
    hand, due = running(table), deadline(table)
    if hand is None or due is None or command.turn != table.turn:
        return Refused("stale_turn", "T11", f"turn {command.turn} is not the open one, which is {table.turn}")
    if command.at_ms < due.clock_acts_ms:
        return Refused("not_offered", "T11", f"the clock acts at {due.clock_acts_ms}, it is {command.at_ms}")
    action = clock_action(hand)
    assert judge(hand, due.seat, action) is None, action.do
    events = (*_overtime(table, hand, due.seat, command.at_ms), *recorded(hand, due.seat, action, "clock"))
    return _played_on(table, events, command.at_ms, command.fresh)


def _played_on(table: Table, events: Events, at_ms: int, fresh: Fresh) -> Course:
    """The events of an action and all that follows.

    T11, S2, S6: after the last event of a hand, its seed, the next commitment, and who sits out from now on.
    """
    course = Course(table, at_ms, events)
    course.follow(_decks(table))
    after = course.table
    if running(after) is not None:
        return course
    assert table.hand is not None
    assert table.shuffle is not None
    sat_out = tuple(
        PlayerSatOut(seat=s.seat, player=s.player, by="clock")
        for s in after.seats
        if s.expiries >= EXPIRIES and not s.sitting_out and not s.leaving
    )
    disclosed = disclose(table, table.hand.hand_id, table.shuffle.server_seed, used=True)
    course.add(*disclosed, *sat_out, commit(fresh))
    return course


def renew(table: Table, command: RenewDeadlines) -> Events | Refused:
    hand = running(table)
    if hand is None or asked(hand) is None or command.turn != table.turn:
        return Refused("stale_turn", "T11", f"turn {command.turn} is not open")
    return (DeadlinesRenewed(),)


def void_hand(table: Table, command: Void) -> Course | Events | Refused:
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
    return _played_on(table, (void(hand, "ops", table.proposal.reason, ops),), command.at_ms, command.fresh)


def commit_anew(table: Table, command: CommitAnew) -> Events | Refused:
    """S2, S6: the seed that was committed to is disclosed unused, and another takes its place."""
    if running(table) is not None:
        return Refused("in_hand", "S2", "a hand runs: what it is dealt by is settled")
    pending = table.next_hand
    disclosed = () if pending is None else disclose(table, pending.hand_id, pending.server_seed, used=False)
    return (*disclosed, commit(command.fresh))
