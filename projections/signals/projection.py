"""The step of the signals: what a hand comes to is counted when it is over. Source: `definitions` beside this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
            return None, [*_over(state, recorded), *_settled(state, recorded, result)]
        case HandVoided(cause=cause):
            return None, [*_over(state, recorded), *_voided(state, recorded, cause == "ops")]
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
    """The rows of a hand that is over."""

    def __init__(self, hand: RunningHand, recorded: Recorded) -> None:
        self.hand = hand
        self.table_id = recorded.stream.removeprefix("table-")
        self.ended_ms = recorded.at_ms

    def key(self, kind: Kind, seat: int, other: int | None) -> dict[str, Any]:
        """Of whom."""
        hand = self.hand
        names = {"player": hand.player(seat), "other": "" if other is None else hand.player(other)}
        return {"kind": kind, **names, "currency": hand.currency}

    def tally(self, kind: Kind, seat: int, other: int | None = None, **amounts: int) -> Iterator[Change]:
        """Counted, and where it is more than a chance, a hand to rest on."""
        key = self.key(kind, seat, other)
        yield Add("tally", {**key, "table_id": self.table_id}, {**NOTHING, **amounts})
        if times := amounts.get("times", 0):
            at = {"ended_ms": self.ended_ms, "hand_id": self.hand.hand_id, "table_id": self.table_id}
            yield Insert("rests_on", {**key, **at, "times": times, "amount": amounts.get("amount", 0)})


def _over(hand: RunningHand, recorded: Recorded) -> Iterator[Change]:
    rows = _Rows(hand, recorded)
    for each in hand.dealt:
        key = {"player": each.player, "currency": hand.currency, "table_id": rows.table_id}
        yield Add("played", key, {"hands": 1})
    for seat, clock in clocks(hand).items():
        used = {"times": clock.late, "chances": clock.decisions, "time_bank_ms": clock.time_bank_ms}
        yield from rows.tally("clock", seat, **used)


def _voided(hand: RunningHand, recorded: Recorded, by_ops: bool) -> Iterator[Change]:
    rows = _Rows(hand, recorded)
    for each in hand.dealt:
        yield from rows.tally("voided", each.seat, times=1, by_ops=int(by_ops))


def _settled(hand: RunningHand, recorded: Recorded, result: Result) -> Iterator[Change]:
    rows = _Rows(hand, recorded)
    lost = {(each.seat, each.to): each.amount for each in losses(hand.dealt, result)}
    for one in hand.dealt:
        for two in hand.dealt:
            if one is not two:
                amount, won = lost.get((one.seat, two.seat), 0), lost.get((two.seat, one.seat), 0)
                yield from rows.tally(
                    "pair", one.seat, two.seat, times=int(amount > 0), chances=1, amount=amount, won=won
                )
    fines = {p.seat: p.fine_due for p in result.players}
    played = list(choices(hand.tricks, hand.trump)) if result.ending == "played" else []
    left = Counter((c.seat, c.other) for c in played if c.left)
    for (seat, other), chances in Counter((c.seat, c.other) for c in played).items():
        times = left[seat, other]
        yield from rows.tally("dumped", seat, other, times=times, chances=chances, amount=fines[seat] if times else 0)
    for seat, less, unpaid in short(result):
        yield from rows.tally("short_purse", seat, times=int(less), chances=1, amount=unpaid)


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
