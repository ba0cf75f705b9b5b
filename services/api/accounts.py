"""Routes of accounts: open, look, deposit, withdraw, statement. Source: DESIGN "The API", rulebook T2."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, get, post
from litestar.params import FromQuery

from domain.commands import Deposit, OpenAccount, Withdraw
from domain.ledger import accounts
from projections.ledger.reads import Line, statement
from services.api.answers import AccountView, StatementLine, StatementPage
from services.api.auth import caller_of
from services.api.bodies import MoneyBody, OpenAccountBody
from services.api.forms import LATEST, Currency, Cursor, Moment, Number, PageSize, PlayerId, Stored
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.problems import Rejection, unless_answered
from services.api.roles import ACCOUNT_READERS, CASHIER
from services.api.tabled import CSV, Format, tabled
from services.api.writes import written
from services.play import types as play
from services.reports import STATEMENT

Incoming = Request[Any, Any, Any]


def _money(summary: str, refusals: tuple[str, ...]) -> dict[str, Any]:
    return described(
        Operation(
            tag="accounts",
            summary=summary,
            rule=CASHIER,
            answer=play.AccountAnswer,
            writes=True,
            body=MoneyBody,
            refusals=refusals,
            problems=("not_found",),
            example={"amount": 100_000, "reference": "desk 1"},
        )
    )


class Accounts(Controller):
    """`/v1/accounts`."""

    path = "/v1/accounts"

    @post(
        "/",
        opt=described(
            Operation(
                tag="accounts",
                summary="Open an account",
                rule=CASHIER,
                answer=play.AccountAnswer,
                status=201,
                writes=True,
                body=OpenAccountBody,
                refusals=("account_exists",),
                example={"player": "anna", "currency": "RUB"},
            )
        ),
    )
    async def open_account(self, request: Incoming) -> Response[play.AccountAnswer]:
        """T2."""
        asked, body = await written(request, OpenAccountBody)
        outcome = await house(request).play.accounts.command(
            body.player,
            body.currency,
            asked,
            lambda at_ms: OpenAccount(at_ms=at_ms, player=body.player, currency=body.currency),
        )
        location = f"/v1/accounts/{body.player}/{body.currency}"
        return Response(_answered(outcome), status_code=201, headers={"Location": location})

    @get(
        "/{player:str}/{currency:str}",
        opt=described(
            Operation(
                tag="accounts",
                summary="An account",
                description="A player's own; a cashier sees all.",
                rule=ACCOUNT_READERS,
                answer=AccountView,
                problems=("not_found",),
            )
        ),
    )
    async def account(self, request: Incoming, player: PlayerId, currency: Currency) -> AccountView:
        """T2: money off the tables."""
        own_or_cashier(request, player)
        found = await house(request).play.accounts.account(player, currency)
        if found is None:
            raise Rejection("not_found", f"there is no account of {player} in {currency}")
        version, account = found
        return AccountView(player=player, currency=currency, balance=account.balance, version=version)

    @get(
        "/{player:str}/{currency:str}/statement",
        opt=described(
            Operation(
                tag="accounts",
                summary="An account's statement",
                description=(
                    "From the books, the oldest line first; CSV with `format=csv` or Accept: text/csv. A player's own; "
                    "a cashier sees all."
                ),
                rule=ACCOUNT_READERS,
                answer=StatementPage,
                also=(CSV,),
                problems=("not_found",),
            )
        ),
    )
    async def statement(
        self,
        request: Incoming,
        player: PlayerId,
        currency: Currency,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[PageSize] = 50,
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        format: FromQuery[Format | None] = None,  # noqa: A002  # the name that a query has for it
    ) -> Response[bytes]:
        """T2: every entry of `player:<id>`."""
        own_or_cashier(request, player)
        rooms = house(request)
        if await rooms.play.accounts.account(player, currency) is None:
            raise Rejection("not_found", f"there is no account of {player} in {currency}")
        check_cursor(cursor, tuple[Number, Number, Number, Number, Stored])
        found = await statement(
            rooms.reader,
            accounts.player(player),
            currency,
            from_ms=from_ms,
            to_ms=to_ms,
            cursor=cursor,
            limit=limit,
        )
        whole = StatementPage(
            player=player,
            currency=currency,
            opening=found.opening,
            lines=tuple(_line(line) for line in found.lines),
            next=found.next,
        )
        name = f"statement-{player}-{currency}"
        return tabled(request, format, name, STATEMENT, found.lines, found.next, whole)

    @post(
        "/{player:str}/{currency:str}/deposits",
        status_code=200,
        opt=_money("Deposit", ("account_limit",)),
    )
    async def deposit(self, request: Incoming, player: PlayerId, currency: Currency) -> play.AccountAnswer:
        """Money from outside."""
        asked, body = await written(request, MoneyBody)
        outcome = await house(request).play.accounts.command(
            player,
            currency,
            asked,
            lambda at_ms: Deposit(at_ms=at_ms, amount=body.amount, reference=body.reference),
        )
        return _answered(outcome)

    @post(
        "/{player:str}/{currency:str}/withdrawals",
        status_code=200,
        opt=_money("Withdraw", ("insufficient_funds",)),
    )
    async def withdraw(self, request: Incoming, player: PlayerId, currency: Currency) -> play.AccountAnswer:
        """Money to the outside."""
        asked, body = await written(request, MoneyBody)
        outcome = await house(request).play.accounts.command(
            player,
            currency,
            asked,
            lambda at_ms: Withdraw(at_ms=at_ms, amount=body.amount, reference=body.reference),
        )
        return _answered(outcome)


def own_or_cashier(request: Incoming, player: str) -> None:
    """A player may see his own account. Raises Rejection."""
    caller = caller_of(request)
    if caller.role == "player" and caller.subject != player:
        raise Rejection("not_allowed", "a player sees his own account alone")


def _line(line: Line) -> StatementLine:
    return StatementLine(
        at_ms=line.at_ms,
        change=line.change,
        balance=line.balance,
        other=line.other,
        clause=line.clause,
        hand_id=line.hand_id,
        stream=line.stream,
        seq=line.seq,
    )


def _answered(outcome: play.AccountOutcome) -> play.AccountAnswer:
    unless_answered(outcome)
    assert isinstance(outcome, play.AccountAnswer), outcome
    return outcome
