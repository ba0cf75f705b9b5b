"""A command to a table → its events, or why it is refused. Source: rulebook T, S2, S6, S7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain import decide_correction, decide_hand, decide_seats
from domain.commands import (
    Act,
    AutoTopUp,
    ClockAct,
    CloseTable,
    CommitAnew,
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
from domain.course import Course
from domain.events import Event, TableOpened, TableStateWritten
from domain.refusal import Refused
from domain.seeds import commit
from domain.table import STATE_EVERY, Table, record, running, seed_lost

Events = tuple[Event, ...]


def decide(table: Table | None, command: TableCommand) -> Events | Refused:
    """The events of `command`: see `course`."""
    decided = course(table, command)
    return decided if isinstance(decided, Refused) else tuple(decided.events)


def course(table: Table | None, command: TableCommand) -> Course | Refused:
    """The events of `command` and the table after each of them, or why it is refused.

    `table` is None where there is no such table yet; only OpenTable takes that. Raises AmountOverflow where an amount
    would pass 2^63 - 1, which T1's limit keeps from happening.
    """
    if isinstance(command, OpenTable):
        assert table is None, "a table opens once"
        assert 0 <= command.settings.stake <= command.settings.entry_limit, command.settings
        return Course(None, command.at_ms, (TableOpened(settings=command.settings), commit(command.fresh)))
    assert table is not None, type(command)
    if table.closed and not isinstance(command, CorrectHand):
        return Refused("table_closing", "T13", "the table is closed")
    decided = _DECIDERS[type(command)](table, command)
    if isinstance(decided, Refused):
        return decided
    taken = decided if isinstance(decided, Course) else Course(table, command.at_ms, decided)
    _write_state(taken, is_due=seed_lost(table) and not seed_lost(taken.table))
    return taken


def _write_state(taken: Course, *, is_due: bool) -> None:
    """The table's state too, where a fold would have to begin too far back otherwise, or (S7) at what no key opens."""
    after = taken.table
    if running(after) is not None or after.next_hand is None or not (is_due or after.since_state >= STATE_EVERY):
        return
    taken.add(
        TableStateWritten(
            table=record(after),
            hand_id=after.next_hand.hand_id,
            commitment=after.next_hand.commitment,
            server_seed=after.next_hand.server_seed,
            client_seeds=after.next_hand.client_seeds,
        )
    )


_DECIDERS: dict[type, Callable[[Table, Any], Course | Events | Refused]] = {
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
    CommitAnew: decide_hand.commit_anew,
}
"""Complete over `TableCommand` but for OpenTable; a test checks it."""
