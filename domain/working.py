"""How a hand's money was worked out, line by line, for a reader, beside what was recorded.

Every figure is taken from the settlement by the rules or from the game's own tables; nothing is reckoned a second way.
Source: rulebook T6 to T10, T12, K17, F10, F11, C5, C6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from domain.events import Event, HandSettled, HandStarted, HandVoided, Result
from domain.evolve import evolve
from domain.evolve_hand import HANDLERS, evolve_hand
from domain.games import game_of
from domain.hand import Finished, Hand
from domain.handfile import Finding, differences
from domain.money import Spared, per_trick, spared
from domain.settlement import settle, voided

Commission = Literal["taken", "no_rate"] | Spared
"""T10: why commission was taken, or was not."""


class PlayerWorking(Struct, frozen=True, kw_only=True):
    """One dealt-in player; amounts in minor units.

    `purse_before` is before the ante, `paid_in` what he put into the bank. `fine_times` is the fine as a multiple of
    the bank; `fine_funds` what he had to pay it from (T7: his purse with his share). `returned` is T12's.
    """

    seat: int
    player: str
    status: str
    purse_before: int
    paid_in: int
    tricks: int
    share: int
    commission: int
    commission_because: Commission
    fine_times: int
    fine_due: int
    fine_funds: int
    fine_paid: int
    returned: int
    purse: int


class Working(Struct, frozen=True, kw_only=True):
    """T6 to T10. `per_trick` is None where a share is none of tricks (C5). `remainder` is what the shares left.

    `result` is by the rules, `recorded` as it was written, and `differences` where they are not the same.
    """

    stake: int
    commission_bps: int
    carried_before: int
    paid_in: int
    bank: int
    tricks: int
    per_trick: int | None
    shares: int
    remainder: int
    fines_paid: int
    carried_bank: int
    share_clauses: tuple[str, ...]
    fine_clauses: tuple[str, ...]
    end_clauses: tuple[str, ...]
    players: tuple[PlayerWorking, ...]
    result: Result
    recorded: Result
    differences: tuple[Finding, ...]


def worked_out(events: Iterable[Event]) -> Working:
    """From the events of a hand that is over. Raises ValueError where it has no end."""
    hand: Hand | None = None
    purses: dict[int, int] = {}
    unpaid: Hand | None = None
    for event in events:
        if isinstance(event, HandStarted):
            hand = evolve(None, event, 0).hand
            purses = {s.seat: s.purse for s in event.table.seats}
            continue
        if hand is None or type(event) not in HANDLERS:
            continue
        if isinstance(event, HandSettled):
            assert unpaid is not None, event.hand_id
            return _settled(unpaid, purses, event.result)
        if isinstance(event, HandVoided):
            return _voided(hand, purses, event.result)
        hand = evolve_hand(hand, event)
        if unpaid is None and isinstance(hand.phase, Finished):
            unpaid = hand
    raise ValueError("these events hold no ended hand")


def _settled(hand: Hand, purses: dict[int, int], recorded: Result) -> Working:
    game = game_of(hand.options, hand.rules)
    result = settle(hand)
    players = []
    for p, r in zip(hand.players, result.players, strict=True):
        players.append(
            PlayerWorking(
                seat=p.seat,
                player=p.player,
                status=r.status,
                purse_before=purses[p.seat],
                paid_in=p.paid_in,
                tricks=r.tricks,
                share=r.share,
                commission=r.commission,
                commission_because=spared(r.share, hand.stake, r.fine_due) or ("taken" if r.commission else "no_rate"),
                fine_times=game.fine(hand, p) if p.in_play else 0,
                fine_due=r.fine_due,
                fine_funds=p.purse + r.share,
                fine_paid=r.fine_paid,
                returned=0,
                purse=r.purse,
            )
        )
    by_trick = "C5" not in game.cites["share"]
    return _working(hand, result, recorded, players, per_trick(hand.bank, game.hand_size) if by_trick else None)


def _voided(hand: Hand, purses: dict[int, int], recorded: Result) -> Working:
    """T12: what was paid in goes back, and everything is as before."""
    result = voided(hand)
    players = [
        PlayerWorking(
            seat=p.seat,
            player=p.player,
            status=r.status,
            purse_before=purses[p.seat],
            paid_in=p.paid_in,
            tricks=0,
            share=0,
            commission=0,
            commission_because="no_share",
            fine_times=0,
            fine_due=0,
            fine_funds=0,
            fine_paid=0,
            returned=p.paid_in,
            purse=r.purse,
        )
        for p, r in zip(hand.players, result.players, strict=True)
    ]
    return _working(hand, result, recorded, players, None)


def _working(
    hand: Hand, result: Result, recorded: Result, players: list[PlayerWorking], each_trick: int | None
) -> Working:
    game = game_of(hand.options, hand.rules)
    shares = sum(p.share for p in players)
    is_void = result.ending == "voided"
    return Working(
        stake=hand.stake,
        commission_bps=hand.commission_bps,
        carried_before=hand.carried,
        paid_in=sum(p.paid_in for p in players),
        bank=result.bank,
        tricks=game.hand_size,
        per_trick=each_trick,
        shares=shares,
        remainder=result.bank - shares,
        fines_paid=sum(p.fine_paid for p in players),
        carried_bank=result.carried_bank,
        share_clauses=("T12",) if is_void else game.cites["share"],
        fine_clauses=("T12",) if is_void else game.cites["fine"],
        end_clauses=("T12",) if is_void else game.cites["end"],
        players=tuple(players),
        result=result,
        recorded=recorded,
        differences=tuple(differences(recorded, result)),
    )
