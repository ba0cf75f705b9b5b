"""What is remembered of a running hand for the signals, and what it comes to once it is over. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from domain.cards import Card
from domain.consequences import winner
from domain.events import Result
from domain.hand import PASSED, Played
from domain.legal import following


class Dealt(Struct, frozen=True, gc=False):
    """A dealt-in player and his purse before the ante."""

    seat: int
    player: str
    purse: int


class Trick(Struct, frozen=True, gc=False):
    """The cards in the order in which they were played, and who took them."""

    cards: tuple[Played, ...]
    taker: int


class Decision(Struct, frozen=True, gc=False):
    """Somebody had to decide; `late`: he left it to the clock."""

    seat: int
    late: bool


class RunningHand(Struct, frozen=True, gc=False, kw_only=True):
    """A hand as far as it has come. `since_ms` is when the decision was opened, `command` the last that decided."""

    hand_id: str
    currency: str
    turn_ms: int
    dealt: tuple[Dealt, ...]
    since_ms: int
    command: bytes = b""
    trump: str = ""
    trick: tuple[Played, ...] = ()
    tricks: tuple[Trick, ...] = ()
    decisions: tuple[Decision, ...] = ()
    time_bank: tuple[tuple[int, int], ...] = ()


class Lost(Struct, frozen=True, gc=False):
    """What `seat` lost to `to` in a hand."""

    seat: int
    to: int
    amount: int


def losses(dealt: tuple[Dealt, ...], result: Result) -> Iterator[Lost]:
    """`pair`: who lost what to whom; what is nothing is left out."""
    after = {p.seat: p.purse for p in result.players}
    net = {d.seat: after[d.seat] - d.purse for d in dealt}
    losers = {seat: -change for seat, change in net.items() if change < 0}
    winners = {seat: change for seat, change in net.items() if change > 0}
    whole = max(sum(losers.values()), sum(winners.values()))
    for seat, loss in losers.items():
        for to, gain in winners.items():
            if amount := loss * gain // whole:
                yield Lost(seat, to, amount)


class Choice(Struct, frozen=True, gc=False):
    """`seat` played last to a trick that was `other`'s, and could take it or leave it; `left`: he left it."""

    seat: int
    other: int
    left: bool


def choices(tricks: tuple[Trick, ...], trump: str) -> Iterator[Choice]:
    """`dumped`: the choices of a hand that was played to its end."""
    for at, trick in enumerate(tricks):
        *before, last = trick.cards
        if not before:
            continue
        held = _held(tricks[at:], last.seat)
        table = tuple(before)
        takes = {
            winner((*table, Played(last.seat, card)), trump) == last.seat
            for card in following(held, table[0].card, trump)
        }
        if takes == {True, False}:
            yield Choice(last.seat, winner(table, trump), left=trick.taker != last.seat)


def _held(tricks: tuple[Trick, ...], seat: int) -> tuple[Card, ...]:
    """What a player still held: what he played from then on."""
    return tuple([p.card for trick in tricks for p in trick.cards if p.seat == seat])


def short(result: Result) -> Iterator[tuple[int, bool, int]]:
    """`short_purse`: each seat in play, whether its purse was less than one bank, and what it owed and did not pay."""
    for p in result.players:
        if p.status != PASSED:
            purse = p.purse - p.share + p.commission + p.fine_paid
            yield p.seat, purse < result.bank, p.fine_due - p.fine_paid


class Clock(Struct, frozen=True, gc=False):
    """A player's decisions in a hand."""

    decisions: int
    late: int
    time_bank_ms: int


def clocks(hand: RunningHand) -> dict[int, Clock]:
    """`clock`: by seat, those who had something to decide or used time."""
    decided = Counter(d.seat for d in hand.decisions)
    late = Counter(d.seat for d in hand.decisions if d.late)
    used: Counter[int] = Counter()
    for seat, ms in hand.time_bank:
        used[seat] += ms
    return {seat: Clock(decided[seat], late[seat], used[seat]) for seat in sorted(decided.keys() | used.keys())}
