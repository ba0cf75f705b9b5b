"""The step of the signals: what a hand comes to is counted when it is over. Source: `definitions` beside this."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from domain.cards import SUIT
from domain.events import (
    By,
    CardPlayed,
    CardsDiscarded,
    CardsDrawn,
    DeadlinesRenewed,
    Declared,
    HandSettled,
    HandStarted,
    HandVoided,
    Result,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
)
from domain.hand import Played
from projections.engine.types import Add, Change, Insert, Projection, Recorded
from projections.signals.definitions import Kind
from projections.signals.hand import Dealt, Decision, RunningHand, Trick, choices, clocks, losses, short

State = RunningHand | None
NOTHING = dict.fromkeys(("times", "chances", "amount", "won", "time_bank_ms", "by_ops"), 0)
ONE_HAND = {"hands": 1}


def step(state: State, recorded: Recorded) -> tuple[State, list[Change]]:
    """The hand goes on; its rows are made at its end."""
    event = recorded.event
    if isinstance(event, HandStarted):
        return _started(event, recorded), []
    if state is None:
        assert isinstance(event, DeadlinesRenewed), f"{recorded.stream}: {event} without a hand"
        return None, []
    match event:
        case CardPlayed(seat=seat, card=card, by=by):
            decided = _decided(state, recorded, seat, by)
            return replace(decided, trick=(*state.trick, Played(seat, card))), []
        case Declared(seat=seat, by=by) | CardsDiscarded(seat=seat, by=by) | CardsDrawn(seat=seat, by=by):
            return _decided(state, recorded, seat, by), []
        case TrickTaken(seat=seat):
            return replace(state, tricks=(*state.tricks, Trick(state.trick, seat)), trick=()), []
        case TimeBankUsed(seat=seat, ms=ms):
            return replace(state, time_bank=(*state.time_bank, (seat, ms))), []
        case TrumpTurned(card=card):
            return replace(state, trump=SUIT[card], since_ms=recorded.at_ms), []
        case DeadlinesRenewed():
            return replace(state, since_ms=recorded.at_ms), []
        case HandSettled(result=result):
            return None, _settled(state, recorded, result)
        case HandVoided(cause=cause):
            return None, _voided(state, recorded, cause == "ops")
        case _:
            raise AssertionError(f"the signals do not handle {event}")


def _started(event: HandStarted, recorded: Recorded) -> RunningHand:
    settings = event.table.settings
    return RunningHand(
        hand_id=event.hand_id,
        currency=settings.currency,
        turn_ms=settings.turn_ms,
        dealt=tuple([Dealt(s.seat, s.player, s.purse) for s in event.table.seats if s.seat in event.dealt_in]),
        since_ms=recorded.at_ms,
    )


def _decided(hand: RunningHand, recorded: Recorded, seat: int, by: By) -> RunningHand:
    """T11: what follows from a word within its command decides nothing, and opens no later than the word did."""
    if recorded.command_id == hand.command:
        return hand
    late = by == "clock" and recorded.at_ms - hand.since_ms >= hand.turn_ms
    counted = (Decision(seat, late),) if late or by == "player" else ()
    return replace(hand, decisions=(*hand.decisions, *counted), since_ms=recorded.at_ms, command=recorded.command_id)


class _Rows:
    """The rows of a hand that is over, which has some twenty of them: `changes`."""

    def __init__(self, hand: RunningHand, recorded: Recorded) -> None:
        self.changes: list[Change] = []
        self._names = {dealt.seat: dealt.player for dealt in hand.dealt}
        self._currency = hand.currency
        self._table_id = recorded.stream.removeprefix("table-")
        self._at = {"ended_ms": recorded.at_ms, "hand_id": hand.hand_id, "table_id": self._table_id}

    def played(self, seat: int) -> None:
        """One hand more of his."""
        key = {"player": self._names[seat], "currency": self._currency, "table_id": self._table_id}
        self.changes.append(Add("played", key, ONE_HAND))

    def tally(self, kind: Kind, seat: int, other: int | None = None, **amounts: int) -> None:
        """Counted, and where it is more than a chance, a hand to rest on."""
        names = self._names
        key: dict[str, Any] = {
            "kind": kind,
            "player": names[seat],
            "other": "" if other is None else names[other],
            "currency": self._currency,
        }
        self.changes.append(Add("tally", {**key, "table_id": self._table_id}, {**NOTHING, **amounts}))
        if times := amounts.get("times", 0):
            row = {**key, **self._at, "times": times, "amount": amounts.get("amount", 0)}
            self.changes.append(Insert("rests_on", row))


def _over(hand: RunningHand, recorded: Recorded) -> _Rows:
    rows = _Rows(hand, recorded)
    for each in hand.dealt:
        rows.played(each.seat)
    for seat, clock in clocks(hand).items():
        rows.tally("clock", seat, times=clock.late, chances=clock.decisions, time_bank_ms=clock.time_bank_ms)
    return rows


def _voided(hand: RunningHand, recorded: Recorded, by_ops: bool) -> list[Change]:
    rows = _over(hand, recorded)
    for each in hand.dealt:
        rows.tally("voided", each.seat, times=1, by_ops=int(by_ops))
    return rows.changes


def _settled(hand: RunningHand, recorded: Recorded, result: Result) -> list[Change]:
    rows = _over(hand, recorded)
    lost = {(each.seat, each.to): each.amount for each in losses(hand.dealt, result)}
    for one, two in permutations([dealt.seat for dealt in hand.dealt], 2):
        amount, won = lost.get((one, two), 0), lost.get((two, one), 0)
        rows.tally("pair", one, two, times=int(amount > 0), chances=1, amount=amount, won=won)
    fines = {p.seat: p.fine_due for p in result.players}
    played = list(choices(hand.tricks, hand.trump)) if result.ending == "played" else []
    left = Counter((c.seat, c.other) for c in played if c.left)
    for (seat, other), chances in Counter((c.seat, c.other) for c in played).items():
        times = left[seat, other]
        rows.tally("dumped", seat, other, times=times, chances=chances, amount=fines[seat] if times else 0)
    for seat, less, unpaid in short(result):
        rows.tally("short_purse", seat, times=int(less), chances=1, amount=unpaid)
    return rows.changes


SIGNALS: Projection[State] = Projection(
    name="signals",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("table-",),
    handles=(
        HandStarted,
        TrumpTurned,
        Declared,
        CardsDiscarded,
        CardsDrawn,
        CardPlayed,
        TrickTaken,
        TimeBankUsed,
        DeadlinesRenewed,
        HandSettled,
        HandVoided,
    ),
    state=RunningHand,
    initial=None,
    step=step,
)
