"""What is to be done at a table and when, from its state alone. Source: rulebook T3, T4, T11, T13."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from domain.commands import (
    AutoTopUp,
    ClockAct,
    CompleteClose,
    CompleteLeave,
    Fresh,
    RemoveIdle,
    RenewDeadlines,
    StartHand,
    TableCommand,
)
from domain.decide_seats import idle_due_ms
from domain.table import Table, deadline, in_hand, running, start_due_ms

AWAY_MS = 2_000
"""T11: how long the clock may be away before open decisions get their time anew; so far a table may be ahead of us."""

Make = Callable[[int, Fresh], TableCommand]


class Item(Struct, frozen=True):
    """One thing to do, not before `due_ms`; `kind` and the table's version make its Idempotency-Key.

    Both times are recorded ones: it is reckoned from `since_ms`, where the two are the same it waits for nothing.
    """

    since_ms: int
    due_ms: int
    kind: str
    make: Make

    def due_here_ms(self, now_ms: int) -> int:
        """When it is due by our clock, which is at `now_ms` as we learn of it. Source: rulebook T11.

        A process whose clock was ahead may have recorded the beginning in our future. What waits for nothing is done
        at once all the same, and what waits is waited for as long as the recorded times say, and not for as long as
        that clock was wrong in addition.
        """
        ahead_ms = self.since_ms - now_ms
        is_shifted = ahead_ms > (AWAY_MS if self.due_ms > self.since_ms else 0)
        return self.due_ms - ahead_ms if is_shifted else self.due_ms


def agenda(table: Table) -> Iterator[Item]:
    """All that is to be done as the table stands, soonest not necessarily first."""
    if table.closed:
        return
    if table.halt is None:
        if table.closing and running(table) is None:
            yield Item(table.at_ms, table.at_ms, "close", lambda at, _: CompleteClose(at_ms=at))
            return
        yield from _seats(table)
    due = deadline(table)
    if due is not None:
        turn = table.turn
        yield Item(
            table.opened_at_ms,
            due.clock_acts_ms,
            f"clock-{turn}",
            lambda at, fresh: ClockAct(at_ms=at, turn=turn, fresh=fresh),
        )
    start = start_due_ms(table)
    if table.ready_at_ms is not None and start is not None:
        yield Item(table.ready_at_ms, start, "start", lambda at, _: StartHand(at_ms=at))


def _seats(table: Table) -> Iterator[Item]:
    for seat in table.seats:
        if in_hand(table, seat.seat):
            continue
        if seat.leaving:
            yield Item(table.at_ms, table.at_ms, f"leave-{seat.player}", _for(CompleteLeave, seat.player))
            continue
        if seat.auto_top_up and seat.purse < seat.buy_in and running(table) is None:
            yield Item(table.at_ms, table.at_ms, f"top-up-{seat.player}", _for(AutoTopUp, seat.player))
        idle = idle_due_ms(table, seat)
        if idle is not None and seat.idle_since_ms is not None:
            yield Item(seat.idle_since_ms, idle, f"idle-{seat.player}", _for(RemoveIdle, seat.player))


def _for(command: type[CompleteLeave | AutoTopUp | RemoveIdle], player: str) -> Make:
    return lambda at, _: command(at_ms=at, player=player)


def renewal(table: Table) -> Item | None:
    """T11: the open decision's full time anew, after the clock was away; None where nothing is open."""
    if deadline(table) is None:
        return None
    turn = table.turn
    return Item(table.at_ms, table.at_ms, f"renew-{turn}", lambda at, _: RenewDeadlines(at_ms=at, turn=turn))
