"""Routes of reports, as JSON or CSV: commission, capped fines, carried banks, voided hands, statements."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Controller, Request, Response, get
from litestar.params import FromQuery
from msgspec import Meta, Struct

from projections.ledger.reads import statement
from projections.reports import (
    CappedFine,
    CarriedBank,
    VoidedHand,
    capped_fines,
    carried_banks,
    commission,
    voided_hands,
)
from services import reports
from services.api.answers import StatementLine
from services.api.auth import caller_of
from services.api.examining import no_seat
from services.api.forms import LATEST, Currency, Cursor, HandId, Moment, Number, Stored, Text
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.problems import Rejection
from services.api.roles import REPORT_READERS
from services.api.tabled import CSV, Format, tabled

Incoming = Request[Any, Any, Any]
RowCount = Annotated[int, Meta(ge=1, le=10_000, description="how many rows at most")]
LedgerAccount = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=r"^(player:[a-z0-9_-]{1,64}|(purse:[0-9a-f-]{36}:[a-z0-9_-]{1,64})|(bank:[0-9a-f-]{36})|house:commission|house:compensation|cash)$(?!\n)",
        description="an account of the books",
        examples=["house:commission"],
    ),
]


class CommissionRow(Struct, frozen=True, kw_only=True):
    """T10: what the hands of one table brought the house on one day of UTC."""

    day: str
    table_id: str
    currency: str
    hands: int
    amount: int


class CommissionPage(Struct, frozen=True, kw_only=True):
    """By day and table; `next` is the cursor of the page after these, or null."""

    rows: tuple[CommissionRow, ...]
    next: str | None


class FinePage(Struct, frozen=True, kw_only=True):
    """T7: fines of which the purse covered a part alone, the oldest first."""

    rows: tuple[CappedFine, ...]
    next: str | None


class BankRow(Struct, frozen=True, kw_only=True):
    """T6: what lies in the bank of a table, as before a running hand."""

    table_id: str
    currency: str
    amount: int


class BankPage(Struct, frozen=True, kw_only=True):
    """Every bank that is not empty, by table."""

    rows: tuple[BankRow, ...]
    next: str | None


class VoidPage(Struct, frozen=True, kw_only=True):
    """T12: hands that came to nothing, the oldest first."""

    rows: tuple[VoidedHand, ...]
    next: str | None


class AccountStatement(Struct, frozen=True, kw_only=True):
    """An account of the books for a period; `opening` is the balance before the first line of this page."""

    account: str
    currency: str
    opening: int
    lines: tuple[StatementLine, ...]
    next: str | None


def _report(summary: str, answer: Any) -> dict[str, Any]:
    return described(
        Operation(
            tag="reports",
            summary=summary,
            description="JSON, or CSV with `format=csv` or Accept: text/csv. From projections, a moment behind.",
            rule=REPORT_READERS,
            answer=answer,
            also=(CSV,),
            refusals=("holds_seat",),
        )
    )


class Reports(Controller):
    """`/v1/reports`."""

    path = "/v1/reports"

    @get("/commission", opt=_report("House commission by day and table", CommissionPage))
    async def commission_report(
        self,
        request: Incoming,
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[RowCount] = 1_000,
        format: FromQuery[Format | None] = None,  # noqa: A002  # the name that a query has for it
    ) -> Response[bytes]:
        """T10."""
        await _may(request, from_ms, to_ms)
        check_cursor(cursor, tuple[Number, Text, Currency])
        page = await commission(house(request).reader, from_ms=from_ms, to_ms=to_ms, cursor=cursor, limit=limit)
        rows = tuple(
            CommissionRow(
                day=reports.day_of(r.day), table_id=r.table_id, currency=r.currency, hands=r.hands, amount=r.amount
            )
            for r in page.items
        )
        whole = CommissionPage(rows=rows, next=page.next)
        return tabled(request, format, "commission", reports.COMMISSION, page.items, page.next, whole)

    @get("/fines", opt=_report("Fines that a purse did not cover", FinePage))
    async def fine_report(
        self,
        request: Incoming,
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[RowCount] = 1_000,
        format: FromQuery[Format | None] = None,  # noqa: A002
    ) -> Response[bytes]:
        """T7: due is not paid."""
        await _may(request, from_ms, to_ms)
        check_cursor(cursor, tuple[Number, HandId, Number])
        page = await capped_fines(house(request).reader, from_ms=from_ms, to_ms=to_ms, cursor=cursor, limit=limit)
        whole = FinePage(rows=page.items, next=page.next)
        return tabled(request, format, "fines", reports.FINES, page.items, page.next, whole)

    @get("/banks", opt=_report("Carried banks, as they are now", BankPage))
    async def bank_report(
        self,
        request: Incoming,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[RowCount] = 1_000,
        format: FromQuery[Format | None] = None,  # noqa: A002
    ) -> Response[bytes]:
        """T6."""
        await _may(request, 0, LATEST)
        check_cursor(cursor, tuple[Text, Currency])
        page = await carried_banks(house(request).reader, cursor=cursor, limit=limit)
        rows: tuple[CarriedBank, ...] = page.items
        whole = BankPage(
            rows=tuple(BankRow(table_id=r.table_id, currency=r.currency, amount=r.amount) for r in rows), next=page.next
        )
        return tabled(request, format, "banks", reports.BANKS, rows, page.next, whole)

    @get("/voids", opt=_report("Hands that were voided", VoidPage))
    async def void_report(
        self,
        request: Incoming,
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[RowCount] = 1_000,
        format: FromQuery[Format | None] = None,  # noqa: A002
    ) -> Response[bytes]:
        """T12."""
        await _may(request, from_ms, to_ms)
        check_cursor(cursor, tuple[Number, HandId])
        page = await voided_hands(house(request).reader, from_ms=from_ms, to_ms=to_ms, cursor=cursor, limit=limit)
        whole = VoidPage(rows=page.items, next=page.next)
        return tabled(request, format, "voids", reports.VOIDS, page.items, page.next, whole)

    @get("/statement", opt=_report("An account of the books for a period", AccountStatement))
    async def account_report(
        self,
        request: Incoming,
        account: FromQuery[LedgerAccount],
        currency: FromQuery[Currency],
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[RowCount] = 1_000,
        format: FromQuery[Format | None] = None,  # noqa: A002
    ) -> Response[bytes]:
        """T2: one that was never moved has no lines."""
        await _may(request, from_ms, to_ms)
        check_cursor(cursor, tuple[Number, Number, Number, Number, Stored])
        found = await statement(
            house(request).reader, account, currency, from_ms=from_ms, to_ms=to_ms, cursor=cursor, limit=limit
        )
        lines = tuple(
            StatementLine(
                at_ms=line.at_ms,
                change=line.change,
                balance=line.balance,
                other=line.other,
                clause=line.clause,
                hand_id=line.hand_id,
                stream=line.stream,
                seq=line.seq,
            )
            for line in found.lines
        )
        whole = AccountStatement(
            account=account, currency=currency, opening=found.opening, lines=lines, next=found.next
        )
        return tabled(request, format, "statement", reports.STATEMENT, found.lines, found.next, whole)


async def _may(request: Incoming, from_ms: int, to_ms: int) -> None:
    """R2: compliance holds no seat. Raises Refusing, and Rejection for a period that ends before it begins."""
    if to_ms < from_ms:
        raise Rejection("invalid", "to_ms: the period ends before it begins")
    caller = caller_of(request)
    if caller.role == "compliance":
        await no_seat(house(request), caller)
