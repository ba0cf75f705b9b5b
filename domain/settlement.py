"""A finished hand → shares, commission and fines. Source: rulebook T6 to T10, T12, K17, F10, F11, C5, C6."""

from __future__ import annotations

from domain.events import PlayerResult, Result
from domain.games import game_of
from domain.hand import PASSED, Finished, Hand
from domain.money import amount, commission


def settle(hand: Hand) -> Result:
    """The result of a hand all of whose tricks have an owner, in minor units.

    T7: a share is credited before the fine is taken. Raises AmountOverflow where an amount passes 2^63 - 1.
    """
    assert isinstance(hand.phase, Finished), hand.phase
    game = game_of(hand.options, hand.rules)
    players = []
    for p, share in zip(hand.players, game.shares(hand), strict=True):
        fine_due = amount(game.fine(hand, p) * hand.bank) if p.in_play else 0
        taken = commission(share, hand.stake, hand.commission_bps, fine_due)
        credited = amount(p.purse + share)
        fine_paid = min(fine_due, credited)
        players.append(
            PlayerResult(
                seat=p.seat,
                status=p.status,
                tricks=p.tricks,
                share=share,
                commission=taken,
                fine_due=fine_due,
                fine_paid=fine_paid,
                purse=credited - taken - fine_paid,
            )
        )
    carried = amount(hand.bank - sum(p.share for p in players) + sum(p.fine_paid for p in players))
    return Result(
        ending=hand.phase.ending,
        bank=hand.bank,
        carried_bank=carried,
        next_dealer=game.next_dealer(hand),
        players=tuple(players),
    )


def voided(hand: Hand) -> Result:
    """T12: the result of a hand that is voided, at whatever point: everything as before."""
    return Result(
        ending="voided",
        bank=hand.carried,
        carried_bank=hand.carried,
        next_dealer=hand.dealer,
        players=tuple(
            PlayerResult(
                seat=p.seat,
                status=PASSED,
                tricks=0,
                share=0,
                commission=0,
                fine_due=0,
                fine_paid=0,
                purse=p.purse + p.paid_in,
            )
            for p in hand.players
        ),
    )
