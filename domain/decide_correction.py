"""R5: what a corrected hand means for the table as it stands now. Source: rulebook R5, T7, T13."""

from __future__ import annotations

from domain.commands import CorrectHand
from domain.decide_seats import bank_returned
from domain.events import Event, HandCorrected, PlayerCorrected, Result
from domain.evolve import evolve
from domain.refusal import Refused
from domain.table import Table, running, seat_of

Events = tuple[Event, ...]


def correct(table: Table, command: CorrectHand) -> Events | Refused:
    """The difference to each purse and to the bank, as far as they go: no debt arises, the house bears the rest."""
    if running(table) is not None:
        return Refused("in_hand", "R5", "a hand runs at this table; a correction waits for its end")
    if command.hand_id in command.corrected:
        return Refused("nothing_to_correct", "R5", "this hand was put right already, by another dispute of it")
    recorded = {p.seat: p.purse for p in command.recorded.players}
    names = {p.seat: p.player for p in command.players}
    dues = [(p.seat, p.purse - recorded[p.seat]) for p in command.right.players]
    bank_due = command.right.carried_bank - command.recorded.carried_bank
    corrected = HandCorrected(
        hand_id=command.hand_id,
        dispute_id=command.dispute_id,
        reviewers=command.reviewers,
        basis=command.basis,
        result=command.right,
        players=tuple(_corrected(table, seat, names[seat], due) for seat, due in dues if due),
        bank_due=bank_due,
        bank_moved=max(bank_due, -table.carried_bank),
        commission_due=_commission(command.right) - _commission(command.recorded),
        resumes=command.resumes,
    )
    after = evolve(table, corrected, command.at_ms)
    return (corrected, *(() if after.seats else bank_returned(after)))


def _commission(result: Result) -> int:
    return sum(p.commission for p in result.players)


def _corrected(table: Table, seat: int, player: str, due: int) -> PlayerCorrected:
    """Who has gone gets what is due to his account; from an account nothing is taken back."""
    sitting = seat_of(table, player)
    if sitting is None:
        return PlayerCorrected(seat=seat, player=player, due=due, moved=max(due, 0), to="account")
    return PlayerCorrected(seat=seat, player=player, due=due, moved=max(due, -sitting.purse), to="purse")
