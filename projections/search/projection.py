"""The step of the search: all of a hand's rows when it ends. It remembers who was dealt in. Source: rulebook H2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from domain.events import HandSettled, HandStarted, HandVoided, Result
from projections.engine.types import Change, Insert, Projection, Recorded

Flag = Literal[
    "voided", "voided_by_ops", "fined", "fine_capped", "helicopter", "blind", "four_aces", "uncontested", "redrawn"
]
"""T12: voided, and by ops. T7: somebody owed a fine; somebody had less. K5, F3, K12, K13. K8: pyatok or shestok."""
FLAGS: tuple[Flag, ...] = get_args(Flag)

STATUS_FLAGS: dict[str, Flag] = {
    "helicopter": "helicopter",
    "frap_blind": "blind",
    "pyatok": "redrawn",
    "shestok": "redrawn",
}


class DealtIn(Struct, frozen=True):
    """The players of the hand that runs, in seat order."""

    players: tuple[str, ...]


State = DealtIn | None


def step(state: State, recorded: Recorded) -> tuple[State, list[Change]]:
    """Nothing until the hand is over."""
    match recorded.event:
        case HandStarted(dealt_in=dealt_in, table=table):
            return DealtIn(tuple(s.player for s in table.seats if s.seat in dealt_in)), []
        case HandSettled(hand_id=hand_id, result=result):
            return None, _ended(state, recorded, hand_id, result, frozenset(_flags(result)))
        case HandVoided(hand_id=hand_id, result=result, cause=cause):
            by_ops: tuple[Flag, ...] = ("voided_by_ops",) if cause == "ops" else ()
            return None, _ended(state, recorded, hand_id, result, frozenset({"voided", *by_ops}))
        case event:
            raise AssertionError(f"the search does not handle {event}")


def _ended(state: State, recorded: Recorded, hand_id: str, result: Result, flags: frozenset[Flag]) -> list[Change]:
    assert state is not None, f"{recorded.stream}: a hand ends that did not start"
    at = {"ended_ms": recorded.at_ms, "hand_id": hand_id}
    row = {**at, "table_id": recorded.stream.removeprefix("table-"), "bank": result.bank}
    return [
        Insert("hand", row),
        *[Insert("dealt_in", {**at, "player": player}) for player in state.players],
        *[Insert("flag", {**at, "flag": flag}) for flag in sorted(flags)],
    ]


def _flags(result: Result) -> Iterator[Flag]:
    if result.ending == "four_aces" or result.ending == "uncontested":
        yield result.ending
    for player in result.players:
        if player.fine_due:
            yield "fined"
        if player.fine_paid < player.fine_due:
            yield "fine_capped"
        flag = STATUS_FLAGS.get(player.status)
        if flag is not None:
            yield flag


SEARCH: Projection[State] = Projection(
    name="search",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("table-",),
    handles=(HandStarted, HandSettled, HandVoided),
    state=DealtIn,
    initial=None,
    step=step,
)
