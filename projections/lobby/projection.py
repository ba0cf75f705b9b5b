"""The lobby's step: a table's event → its row. Source: rulebook T1 to T4, T13."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from domain.events import (
    BankReturned,
    HandCorrected,
    HandSettled,
    HandStarted,
    HandVoided,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PlayerSatOut,
    Settings,
    TableClosed,
    TableClosing,
    TableHalted,
    TableOpened,
    TableRecord,
    TableResumed,
)
from projections.engine.types import Change, Projection, Put, Recorded


class LobbySeat(Struct, frozen=True, kw_only=True):
    """Who sits where."""

    seat: int
    player: str
    sitting_out: bool = False


class LobbyTable(Struct, frozen=True, kw_only=True):
    """A table as the lobby shows it. `seq` is the number of the event that changed it last.

    `carried_bank` is in minor units, `hand_id` the running hand's or None, `hand_no` counts the hands played, `halted`
    says why, where it is halted.
    """

    table_id: str
    seq: int
    opened_ms: int
    changed_ms: int
    settings: Settings
    seats: tuple[LobbySeat, ...] = ()
    carried_bank: int = 0
    hand_id: str | None = None
    hand_no: int = 0
    halted: str | None = None
    closing: bool = False
    closed: bool = False


State = LobbyTable | None


def step(state: State, recorded: Recorded) -> tuple[State, list[Change]]:
    """The table after the event, and its row; a closed table is forgotten, its row stays."""
    if state is None and isinstance(recorded.event, HandCorrected):
        return None, []  # R5 of a closed table: nothing of it is in its row
    after = replace(_changed(state, recorded), seq=recorded.seq, changed_ms=recorded.at_ms)
    return (None if after.closed else after), [Put("lobby_table", _row(after, recorded))]


def _changed(state: State, recorded: Recorded) -> LobbyTable:
    event = recorded.event
    if isinstance(event, TableOpened):
        return LobbyTable(
            table_id=recorded.stream.removeprefix("table-"),
            seq=recorded.seq,
            opened_ms=recorded.at_ms,
            changed_ms=recorded.at_ms,
            settings=event.settings,
        )
    assert state is not None, f"{recorded.stream} was not opened"
    match event:
        case PlayerSat(seat=seat, player=player):
            sat = LobbySeat(seat=seat, player=player)
            return replace(state, seats=tuple(sorted((*state.seats, sat), key=lambda s: s.seat)))
        case PlayerLeft(seat=seat):
            return replace(state, seats=tuple(s for s in state.seats if s.seat != seat))
        case PlayerSatOut(seat=seat):
            return replace(state, seats=_sitting_out(state, seat, True))
        case PlayerReturned(seat=seat):
            return replace(state, seats=_sitting_out(state, seat, False))
        case HandStarted(hand_id=hand_id, table=table):
            return replace(
                state, seats=_seats(table), carried_bank=table.carried_bank, hand_id=hand_id, hand_no=table.hand_no
            )
        case HandSettled(result=result) | HandVoided(result=result):
            return replace(state, carried_bank=result.carried_bank, hand_id=None, hand_no=state.hand_no + 1)
        case BankReturned(amount=amount):
            return replace(state, carried_bank=state.carried_bank - amount)
        case TableHalted(reason=reason):
            return replace(state, halted=reason)
        case TableResumed():
            return replace(state, halted=None)
        case HandCorrected(bank_moved=moved, resumes=resumes):
            halted = None if resumes else state.halted
            return replace(state, carried_bank=state.carried_bank + moved, halted=halted)
        case TableClosing():
            return replace(state, closing=True)
        case TableClosed():
            return replace(state, closed=True)
        case _:
            raise AssertionError(f"the lobby does not handle {event}")


def _sitting_out(state: LobbyTable, seat: int, out: bool) -> tuple[LobbySeat, ...]:
    return tuple(replace(s, sitting_out=out) if s.seat == seat else s for s in state.seats)


def _seats(table: TableRecord) -> tuple[LobbySeat, ...]:
    return tuple(LobbySeat(seat=s.seat, player=s.player, sitting_out=s.sitting_out) for s in table.seats)


def _row(after: LobbyTable, recorded: Recorded) -> dict[str, Any]:
    settings = after.settings
    return {
        "table_id": after.table_id,
        "part": recorded.part,
        "pos": recorded.pos,
        "seq": after.seq,
        "opened_ms": after.opened_ms,
        "changed_ms": after.changed_ms,
        "game": settings.game,
        "currency": settings.currency,
        "has_room": len(after.seats) < settings.max_seats and not after.closing,
        "settings": settings,
        "seats": after.seats,
        "carried_bank": after.carried_bank,
        "hand_id": after.hand_id,
        "hand_no": after.hand_no,
        "halted": after.halted,
        "closing": after.closing,
        "closed": after.closed,
    }


LOBBY: Projection[State] = Projection(
    name="lobby",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("table-",),
    handles=(
        TableOpened,
        PlayerSat,
        PlayerLeft,
        PlayerSatOut,
        PlayerReturned,
        HandStarted,
        HandSettled,
        HandVoided,
        BankReturned,
        TableHalted,
        TableResumed,
        HandCorrected,
        TableClosing,
        TableClosed,
    ),
    state=LobbyTable,
    initial=None,
    step=step,
)
