"""Accounts, and what happens at a table seen from them: T2, T3, T13."""

from __future__ import annotations

from typing import Literal

import pytest

from domain.accounts import Account, decide, evolve, moves
from domain.commands import AccountCommand, Compensate, Deposit, MoveIn, MoveOut, OpenAccount, Withdraw
from domain.events import (
    ACCOUNT_EVENTS,
    AccountEvent,
    AccountOpened,
    Adjusted,
    BankReturned,
    BoughtIn,
    CashedOut,
    Deposited,
    Event,
    HandCorrected,
    PlayerCorrected,
    PlayerLeft,
    PlayerReturned,
    PlayerSat,
    PurseToppedUp,
    Result,
    TableClosed,
    Withdrawn,
)
from domain.money import ACCOUNT_LIMIT, MAX_AMOUNT, AmountOverflow
from domain.refusal import Code, Refused
from tests.domain.table.given import T0

TABLE = "018f0000-0000-7000-8000-0000000000aa"
ANNA = AccountOpened(player="anna", currency="RUB")


def account(balance: int) -> Account:
    """Anna's account, by its events."""
    state = evolve(None, ANNA)
    return evolve(state, Deposited(amount=balance, balance=balance)) if balance else state


def refusal(balance: int | None, command: AccountCommand) -> tuple[Code, str]:
    refused = decide(None if balance is None else account(balance), command)
    assert isinstance(refused, Refused), refused
    return refused.code, refused.clause


OPEN = OpenAccount(at_ms=T0, player="anna", currency="RUB")


def test_t2_an_account_opens_once() -> None:
    assert decide(None, OPEN) == ANNA
    assert refusal(0, OPEN) == ("account_exists", "T2")


@pytest.mark.parametrize(
    "command",
    [
        Deposit(at_ms=T0, amount=1),
        Withdraw(at_ms=T0, amount=1),
        MoveIn(at_ms=T0, table_id=TABLE, amount=1),
        MoveOut(at_ms=T0, table_id=TABLE, amount=1, kind="purse"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_t2_without_an_account_there_is_nothing_to_move(command: AccountCommand) -> None:
    assert refusal(None, command) == ("no_account", "T2")


def test_t2_money_from_outside_and_to_it() -> None:
    deposited = decide(account(5), Deposit(at_ms=T0, amount=7, reference="note 1"))
    assert deposited == Deposited(amount=7, balance=12, reference="note 1")
    withdrawn = decide(account(5), Withdraw(at_ms=T0, amount=5, reference="note 2"))
    assert withdrawn == Withdrawn(amount=5, balance=0, reference="note 2")


def test_t2_an_account_never_goes_below_zero() -> None:
    assert refusal(5, Withdraw(at_ms=T0, amount=6)) == ("insufficient_funds", "T2")
    assert refusal(5, MoveIn(at_ms=T0, table_id=TABLE, amount=6)) == ("insufficient_funds", "T2")


def test_t2_to_a_table_and_back() -> None:
    bought = decide(account(5), MoveIn(at_ms=T0, table_id=TABLE, amount=5))
    assert bought == BoughtIn(table_id=TABLE, amount=5, balance=0)
    kinds: tuple[Literal["purse", "bank"], ...] = ("purse", "bank")
    for kind in kinds:
        cashed = decide(account(5), MoveOut(at_ms=T0, table_id=TABLE, amount=3, kind=kind))
        assert cashed == CashedOut(table_id=TABLE, amount=3, balance=8, kind=kind)


def test_t2_n_deposits_have_a_limit_and_amounts_past_2_to_63_are_errors() -> None:
    assert refusal(ACCOUNT_LIMIT, Deposit(at_ms=T0, amount=1)) == ("account_limit", "T2")
    full = Deposited(amount=1, balance=ACCOUNT_LIMIT)
    assert decide(account(ACCOUNT_LIMIT - 1), Deposit(at_ms=T0, amount=1)) == full
    with pytest.raises(AmountOverflow):
        decide(account(MAX_AMOUNT), MoveOut(at_ms=T0, table_id=TABLE, amount=1, kind="purse"))


def test_t2_every_event_but_the_first_carries_the_balance_after_it() -> None:
    events: tuple[AccountEvent, ...] = (
        Deposited(amount=10, balance=10),
        Withdrawn(amount=1, balance=9),
        BoughtIn(table_id=TABLE, amount=4, balance=5),
        CashedOut(table_id=TABLE, amount=8, balance=13),
        Adjusted(amount=-3, balance=10, reason="a slip"),
    )
    assert {type(e) for e in events} | {AccountOpened} == set(ACCOUNT_EVENTS)
    for event in events:
        assert not isinstance(event, AccountOpened)
        assert evolve(account(3), event) == Account(player="anna", currency="RUB", balance=event.balance)


def test_r4_a_compensation_comes_from_the_house_up_to_the_limit() -> None:
    given = decide(account(5), Compensate(at_ms=T0, dispute_id="d", amount=7))
    assert given == Adjusted(amount=7, balance=12, reason="compensation", dispute_id="d")
    assert refusal(ACCOUNT_LIMIT, Compensate(at_ms=T0, dispute_id="d", amount=1)) == ("account_limit", "T2")


def test_r5_who_has_gone_gets_a_correction_on_his_account() -> None:
    nothing = Result(ending="voided", bank=0, carried_bank=0, next_dealer=0, players=())
    corrected = HandCorrected(
        hand_id="h",
        dispute_id="d",
        reviewers=("rita", "roman"),
        basis="rules",
        result=nothing,
        players=(
            PlayerCorrected(seat=0, player="anna", due=7, moved=7, to="purse"),
            PlayerCorrected(seat=1, player="boris", due=9, moved=9, to="account"),
            PlayerCorrected(seat=2, player="vera", due=-9, moved=0, to="account"),
        ),
    )
    assert moves((corrected,), TABLE, T0) == {"boris": [MoveOut(at_ms=T0, table_id=TABLE, amount=9, kind="purse")]}


def test_t3_t13_what_a_tables_events_mean_for_accounts() -> None:
    events: tuple[Event, ...] = (
        PlayerSat(seat=0, player="anna", buy_in=100),
        PurseToppedUp(seat=1, player="boris", amount=7),
        PlayerReturned(seat=1, player="boris"),
        PlayerLeft(seat=1, player="boris", purse=50),
        PlayerLeft(seat=2, player="vera", purse=0),
        BankReturned(seat=1, player="boris", amount=3),
        BankReturned(seat=3, player="gleb", amount=2),
        TableClosed(),
    )
    assert moves(events, TABLE, T0) == {
        "anna": [MoveIn(at_ms=T0, table_id=TABLE, amount=100)],
        "boris": [
            MoveIn(at_ms=T0, table_id=TABLE, amount=7),
            MoveOut(at_ms=T0, table_id=TABLE, amount=50, kind="purse"),
            MoveOut(at_ms=T0, table_id=TABLE, amount=3, kind="bank"),
        ],
        "gleb": [MoveOut(at_ms=T0, table_id=TABLE, amount=2, kind="bank")],
    }
