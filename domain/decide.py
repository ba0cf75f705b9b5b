"""A command to a table → its events, or why it is refused. Source: rulebook T, S2, S6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain import decide_correction, decide_hand, decide_seats
from domain.commands import (
    Act,
    AutoTopUp,
    ClockAct,
    CloseTable,
    CompleteClose,
    CompleteLeave,
    CorrectHand,
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
from domain.events import Event, HandCommitted, TableOpened, TableStateWritten
from domain.evolve import evolve
from domain.refusal import Refused
from domain.seeds import commit
from domain.table import STATE_EVERY, Table, record, running

Events = tuple[Event, ...]


def decide(table: Table | None, command: TableCommand) -> Events | Refused:
    """The events of `command`. `table` is None where there is no such table yet; only OpenTable takes that.

    Raises AmountOverflow where an amount would pass 2^63 - 1, which T1's limit keeps from happening.
    """
    if isinstance(command, OpenTable):
        assert table is None, "a table opens once"
        assert 0 <= command.settings.stake <= command.settings.entry_limit, command.settings
        return (TableOpened(settings=command.settings), commit(command.fresh))
    assert table is not None, type(command)
    if table.closed and not isinstance(command, CorrectHand):
        return Refused("table_closing", "T13", "the table is closed")
    events = _DECIDERS[type(command)](table, command)
    return events if isinstance(events, Refused) else _with_state(table, events, command.at_ms)


def _with_state(table: Table, events: Events, at_ms: int) -> Events:
    """`events`, and the table's state where a fold would have to begin too far back otherwise."""
    runs_on = running(table) is not None and not isinstance(events[-1], HandCommitted)
    if runs_on or table.since_state + len(events) < STATE_EVERY:
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


_DECIDERS: dict[type, Callable[[Table, Any], Events | Refused]] = {
    SetClientSeed: decide_seats.set_client_seed,
    Sit: decide_seats.sit,
    TopUp: decide_seats.top_up,
    AutoTopUp: decide_seats.auto_top_up,
    SitOut: decide_seats.sit_out,
    Return: decide_seats.come_back,
    Leave: decide_seats.leave,
    CompleteLeave: decide_seats.complete_leave,
    RemoveIdle: decide_seats.remove_idle,
    HaltTable: decide_seats.halt,
    ResumeTable: decide_seats.resume,
    CorrectHand: decide_correction.correct,
    CloseTable: decide_seats.close,
    CompleteClose: decide_seats.complete_close,
    StartHand: decide_hand.start,
    Act: decide_hand.act_on,
    ClockAct: decide_hand.clock_act,
    RenewDeadlines: decide_hand.renew,
    Void: decide_hand.void_hand,
}
"""Complete over `TableCommand` but for OpenTable; a test checks it."""
