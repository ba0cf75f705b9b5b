"""A player's account in one currency: its state, decide and evolve. Source: rulebook T2, T3."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from domain.commands import AccountCommand, Compensate, Deposit, MoveIn, MoveOut, OpenAccount, Withdraw
from domain.events import (
    AccountEvent,
    AccountOpened,
    Adjusted,
    BankReturned,
    BoughtIn,
    CashedOut,
    Deposited,
    Event,
    HandCorrected,
    PlayerLeft,
    PlayerSat,
    PurseToppedUp,
    Withdrawn,
)
from domain.money import ACCOUNT_LIMIT
from domain.money import amount as valid
from domain.refusal import Refused


class Account(Struct, frozen=True, kw_only=True):
    """Money off the tables, in minor units; never below zero."""

    player: str
    currency: str
    balance: int = 0


def decide(account: Account | None, command: AccountCommand) -> AccountEvent | Refused:
    """The event of `command`, or why it is refused. Raises AmountOverflow where what comes back would pass 2^63 - 1."""
    if isinstance(command, OpenAccount):
        if account is not None:
            return Refused("account_exists", "T2", f"{command.player} has an account in {command.currency} already")
        return AccountOpened(player=command.player, currency=command.currency)
    if account is None:
        return Refused("no_account", "T2", "there is no such account; a cashier opens accounts")
    match command:
        case Deposit(amount=amount, reference=reference):
            if account.balance + amount > ACCOUNT_LIMIT:
                return Refused("account_limit", "T2", f"with a deposit an account holds at most {ACCOUNT_LIMIT}")
            return Deposited(amount=amount, balance=account.balance + amount, reference=reference)
        case Withdraw(amount=amount, reference=reference):
            if amount > account.balance:
                return _too_little(account, amount)
            return Withdrawn(amount=amount, balance=account.balance - amount, reference=reference)
        case MoveIn(table_id=table_id, amount=amount):
            if amount > account.balance:
                return _too_little(account, amount)
            return BoughtIn(table_id=table_id, amount=amount, balance=account.balance - amount)
        case MoveOut(table_id=table_id, amount=amount, kind=kind):
            balance = valid(account.balance + amount)
            return CashedOut(table_id=table_id, amount=amount, balance=balance, kind=kind)
        case Compensate(dispute_id=dispute_id, amount=amount):
            if account.balance + amount > ACCOUNT_LIMIT:
                return Refused("account_limit", "T2", f"with a deposit an account holds at most {ACCOUNT_LIMIT}")
            balance = account.balance + amount
            return Adjusted(amount=amount, balance=balance, reason="compensation", dispute_id=dispute_id)
        case _:
            assert_never(command)


def _too_little(account: Account, amount: int) -> Refused:
    return Refused("insufficient_funds", "T2", f"{amount} asked, {account.balance} {account.currency} on the account")


def evolve(account: Account | None, event: AccountEvent) -> Account:
    """The account after `event`; every event but the first carries the balance after it."""
    if isinstance(event, AccountOpened):
        return Account(player=event.player, currency=event.currency)
    assert account is not None, type(event)
    match event:
        case (
            Deposited(balance=balance)
            | Withdrawn(balance=balance)
            | BoughtIn(balance=balance)
            | CashedOut(balance=balance)
            | Adjusted(balance=balance)
        ):
            return Account(player=account.player, currency=account.currency, balance=balance)
        case _:
            assert_never(event)


def moves(events: tuple[Event, ...], table_id: str, at_ms: int) -> dict[str, list[MoveIn | MoveOut]]:
    """What a table's events mean for accounts: (player → moves), in the order of the events. T2, T3, T13."""
    found: dict[str, list[MoveIn | MoveOut]] = {}
    for event in events:
        match event:
            case PlayerSat(player=player, buy_in=amount) | PurseToppedUp(player=player, amount=amount):
                found.setdefault(player, []).append(MoveIn(at_ms=at_ms, table_id=table_id, amount=amount))
            case PlayerLeft(player=player, purse=purse) if purse:
                move = MoveOut(at_ms=at_ms, table_id=table_id, amount=purse, kind="purse")
                found.setdefault(player, []).append(move)
            case BankReturned(player=player, amount=amount):
                move = MoveOut(at_ms=at_ms, table_id=table_id, amount=amount, kind="bank")
                found.setdefault(player, []).append(move)
            case HandCorrected(players=players):
                for p in players:
                    if p.to == "account" and p.moved:
                        move = MoveOut(at_ms=at_ms, table_id=table_id, amount=p.moved, kind="purse")
                        found.setdefault(p.player, []).append(move)
            case _:
                pass
    return found
