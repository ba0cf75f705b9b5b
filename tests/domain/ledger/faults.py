"""Slips, one at a time, to be planted into the rest of the domain: each with the clause that the ledger must name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain import consequences, decide, decide_hand, decide_seats, settlement
from domain.commands import StartHand
from domain.course import Course
from domain.events import BankToppedUp, Event, FinePaid, HandVoided, PlayerLeft, PlayerResult, Result, SharePaid
from domain.games import game
from domain.games.frap import Frap
from domain.games.khrap import Khrap
from domain.games.khrap5 import Khrap5
from domain.hand import Hand, Player
from domain.money import BPS
from domain.options import FrapOptions, GameName, Khrap5Options, KhrapOptions, Options

Patch = Callable[[pytest.MonkeyPatch], None]
Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


class Fault(Struct, frozen=True):
    """A slip in one place of the code, and the clauses one of which must be named."""

    name: str
    clauses: tuple[str, ...]
    plant: Patch
    options: Options = KhrapOptions()
    stake: int = 2000
    commission_bps: int = 400

    @property
    def game(self) -> GameName:
        """The game that the options are of."""
        return _GAMES[type(self.options)]


_GAMES: dict[type[Options], GameName] = {KhrapOptions: "khrap", FrapOptions: "frap", Khrap5Options: "khrap5"}


# --- how a fault is planted


def _set(target: object, name: str, value: Any) -> Patch:
    return lambda patch: patch.setattr(target, name, value)


def _wrap(target: object, name: str, wrapper: Wrapper) -> Patch:
    return lambda patch: patch.setattr(target, name, wrapper(getattr(target, name)))


def _result(change: Callable[[Hand, Result], Result]) -> Patch:
    """In the result of a hand, from which its payments follow."""
    return _wrap(consequences, "settle", lambda right: lambda hand: change(hand, right(hand)))


def _each(change: Callable[[Hand, PlayerResult], PlayerResult]) -> Patch:
    return _result(lambda hand, result: replace(result, players=tuple(change(hand, p) for p in result.players)))


def _events(name: str, change: Callable[[Event], Event | None]) -> Patch:
    """In the events that a function of `domain.consequences` makes."""

    def wrapper(right: Callable[..., tuple[Event, ...]]) -> Callable[..., tuple[Event, ...]]:
        return lambda *args: tuple(e for e in map(change, right(*args)) if e is not None)

    return _wrap(consequences, name, wrapper)


def _fine(cls: type, change: Callable[[Hand, Player, int], int]) -> Patch:
    """In the banks owed."""
    return _wrap(cls, "fine", lambda right: lambda self, hand, p: change(hand, p, right(self, hand, p)))


def _commission(wrong: Callable[[int, int, int, int], int]) -> Patch:
    return _set(settlement, "commission", wrong)


def _ante(change: Callable[[Any], int]) -> Patch:
    """In the ante of every hand that starts: from the table to its ante."""

    def wrapper(right: Callable[..., Any]) -> Callable[..., Any]:
        def start(table: Any, command: Any) -> Any:
            right_course = right(table, command)
            if not isinstance(right_course, Course):
                return right_course
            return (replace(right_course.events[0], ante=change(table)), *right_course.events[1:])

        return start

    return lambda patch: patch.setitem(decide._DECIDERS, StartHand, wrapper(decide_hand.start))


# --- the slips themselves


def _uncapped(hand: Hand, p: PlayerResult) -> PlayerResult:
    return replace(p, fine_paid=p.fine_due, purse=p.purse + p.fine_paid - p.fine_due)


def _capped_before_share(hand: Hand, p: PlayerResult) -> PlayerResult:
    paid = min(p.fine_paid, p.purse + p.fine_paid - p.share)
    return replace(p, fine_paid=paid, purse=p.purse + p.fine_paid - paid)


def _neighbours_share(hand: Hand, result: Result) -> Result:
    ps = result.players
    shares = [p.share for p in ps[1:]] + [ps[0].share]
    moved = [replace(p, share=s, purse=p.purse - p.share + s) for p, s in zip(ps, shares, strict=True)]
    return replace(result, players=tuple(moved))


def _remainder_lost(hand: Hand, result: Result) -> Result:
    return replace(result, carried_bank=sum(p.fine_paid for p in result.players))


def _one_more_carried(hand: Hand, result: Result) -> Result:
    return replace(result, carried_bank=result.carried_bank + 1)


def _rounded_up(share: int, stake: int, bps: int, fine_due: int) -> int:
    return 0 if fine_due or share <= stake else -(-share * bps // BPS)


def _without_trump(right: Callable[..., int]) -> Callable[..., int]:
    return lambda trick, trump: right(trick, "")


def _for_free(hand: Hand, p: Player, due: int) -> int:
    """Only the declarer is fined."""
    return due if p.seat == hand.declarer else 0


def _declarers_doubled(hand: Hand, p: Player, due: int) -> int:
    return 2 * due if p.seat == hand.declarer else due


def _without(kind: type[Event]) -> Callable[[Event], Event | None]:
    return lambda event: None if isinstance(event, kind) else event


def _beyond_the_purse(event: Event) -> Event:
    return replace(event, amount=10_000_000) if isinstance(event, BankToppedUp) and event.seat == 0 else event


def _not_of_seat_0(event: Event) -> Event | None:
    return None if isinstance(event, BankToppedUp) and event.seat == 0 else event


def _last_one_forgotten(right: Callable[..., HandVoided]) -> Callable[..., HandVoided]:
    def void(*args: Any) -> HandVoided:
        event = right(*args)
        return replace(event, returned=event.returned[:-1])

    return void


def _hasty(right: Callable[..., Any]) -> Callable[..., Any]:
    def unclaimed(rules: Any, hand: Hand, decks: Any) -> Any:
        if hand.circle >= rules.circles(hand.options):
            return (consequences.void(hand, "no_declarer", "enough", ()),)
        return right(rules, hand, decks)

    return unclaimed


def _never_voided(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rules, hand, decks: right(rules, replace(hand, deal_no=0), decks)


def _all_of_it(self: Khrap5, hand: Hand) -> tuple[int, ...]:
    return tuple(hand.bank if p.tricks >= 3 else 0 for p in hand.players)


def _one_more(right: Callable[..., Any]) -> Callable[..., Any]:
    def gone(table: Any, seat: Any, reason: str) -> Any:
        left, *rest = right(table, seat, reason)
        assert isinstance(left, PlayerLeft)
        return (replace(left, purse=left.purse + 1), *rest)

    return gone


_GRADED = KhrapOptions(declarer_fine="graded")
_EMPTY_BANK = KhrapOptions(ante_policy="empty_bank")
_REDEAL_ANTE = KhrapOptions(redeal_ante=True)
_FRAP, _KHRAP5 = FrapOptions(), Khrap5Options()
_ONE_DEAL = FrapOptions(max_deals=1)
_CARRIED = ("T7", "T8", "T9")

FAULTS = (
    Fault("share off by one", ("T9",), _wrap(game, "per_trick", lambda right: lambda *args: right(*args) + 1)),
    Fault("share of a third", ("T9",), _set(game, "per_trick", lambda bank, tricks: bank // 3)),
    Fault("share by the neighbour's tricks", ("T9",), _result(_neighbours_share)),
    Fault("tricks miscounted", ("K16",), _each(lambda _, p: replace(p, tricks=p.tricks + 1) if p.share else p)),
    Fault("share not paid", ("T9",), _events("_money", _without(SharePaid))),
    Fault("share in the purse twice", ("T7",), _each(lambda _, p: replace(p, purse=p.purse + p.share))),
    Fault("commission of the net", ("T10",), _commission(lambda s, k, b, f: 0 if f or s <= k else (s - k) * b // BPS)),
    Fault("commission at the stake", ("T10",), _commission(lambda s, k, b, f: 0 if f or s < k else s * b // BPS)),
    Fault("commission rounded up", ("T10",), _commission(_rounded_up), stake=2001),
    Fault("commission of a fined player", ("T10",), _commission(lambda s, k, b, f: 0 if s <= k else s * b // BPS)),
    Fault("commission not taken", ("T10",), _commission(lambda s, k, b, f: 0)),
    Fault("fine doubled", ("K17",), _fine(Khrap, lambda hand, p, due: due * 2)),
    Fault("helper's fine waived", ("K17",), _fine(Khrap, _for_free)),
    Fault("fine graded", ("K17",), _fine(Khrap, lambda hand, p, due: 1 if p.tricks == 1 and due else due)),
    Fault("fine not graded", ("K17",), _fine(Khrap, _declarers_doubled), _GRADED),
    Fault("fine not capped", ("T7",), _each(_uncapped)),
    Fault("fine capped before the share", ("T7",), _each(_capped_before_share)),
    Fault("fine not recorded as paid", ("K17",), _events("_money", _without(FinePaid))),
    Fault("fine with a zero bank", ("T8",), _each(lambda _, p: replace(p, fine_due=1) if p.tricks else p), stake=0),
    Fault("remainder lost", _CARRIED, _result(_remainder_lost), stake=2001),
    Fault("carried bank off by one", _CARRIED, _result(_one_more_carried)),
    Fault("bank off by one", ("T6",), _result(lambda _, result: replace(result, bank=result.bank - 1))),
    Fault("trump does not win", ("K16",), _wrap(consequences, "winner", _without_trump)),
    Fault("the last card wins", ("K16",), _set(consequences, "winner", lambda trick, trump: trick[-1].seat)),
    Fault("the neighbour deals", ("K18",), _set(Khrap, "next_dealer", Frap.next_dealer)),
    Fault("ante dropped", ("T5",), _ante(lambda table: 0)),
    Fault("ante on a carried bank", ("T5",), _ante(lambda table: table.settings.stake), _EMPTY_BANK, stake=2001),
    Fault("ante of a redeal", ("K10",), _set(Khrap, "redeal_top_up", lambda *_: True)),
    Fault("no ante of a redeal", ("K10",), _set(Khrap, "redeal_top_up", lambda *_: False), _REDEAL_ANTE),
    Fault("one trump change too many", ("K9",), _set(Khrap, "circles", lambda *_: 5)),
    Fault("one trump change too few", ("K10", "T12"), _set(Khrap, "circles", lambda *_: 3)),
    Fault("top-up beyond the purse", ("F4",), _events("_top_ups", _beyond_the_purse), _FRAP),
    Fault("top-up of one forgotten", ("F4",), _events("_top_ups", _not_of_seat_0), _FRAP),
    Fault("top-ups of a circle forgotten", ("C4",), _set(Khrap5, "circle_top_up", False), _KHRAP5),
    Fault("top-ups of a redeal forgotten", ("F5",), _set(Frap, "redeal_top_up", lambda *_: False), _FRAP),
    Fault("a void gives back too little", ("T12",), _wrap(consequences, "void", _last_one_forgotten), _ONE_DEAL),
    Fault("voided before the last deal", ("T12",), _wrap(consequences, "_unclaimed", _hasty), _FRAP),
    Fault("dealt after the last deal", ("T12",), _wrap(consequences, "_unclaimed", _never_voided), _ONE_DEAL),
    Fault("all of the bank in the second circle", ("C5",), _set(Khrap5, "shares", _all_of_it), _KHRAP5),
    Fault("one fine more", ("C6",), _fine(Khrap5, lambda hand, p, due: due + 1), _KHRAP5),
    Fault("blind without a trick for half", ("F11",), _fine(Frap, lambda hand, p, due: min(due, 2)), _FRAP),
    Fault("whist without a trick free", ("F10",), _fine(Frap, _for_free), _FRAP),
    Fault("the dealer stays", ("F12",), _set(Frap, "next_dealer", lambda self, hand: hand.dealer), _FRAP),
    Fault("the bank to the first", ("T13",), _set(decide_seats, "split_evenly", lambda t, n: (t, *[0] * (n - 1)))),
    Fault("a leaver takes one more", ("T3",), _wrap(decide_seats, "_gone", _one_more)),
)  # fmt: skip
