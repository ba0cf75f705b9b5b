"""The route of the signals: what reviewers may look at, and on which hands it rests. Source: `projections.signals`."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.params import FromQuery
from msgspec import Meta, Struct
from msgspec.structs import asdict

from projections.signals import DEFINITIONS, Kind, Signal, signals
from services import reports
from services.api.auth import caller_of
from services.api.examining import no_seat
from services.api.forms import Currency, Cursor, PageSize, PlayerId
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.roles import COMPLIANCE
from services.api.tabled import CSV, Format, tabled

Incoming = Request[Any, Any, Any]
Other = Annotated[str, Meta(pattern=r"^[a-z0-9_-]{0,64}$(?!\n)")]
Weight = Annotated[int, Meta(ge=0, le=2**63 - 1)]
SignalKind = Annotated[Kind, Meta(description="what was counted: each row says its definition")]


class SignalRow(Signal, frozen=True, kw_only=True):
    """A signal, and in words what its numbers count."""

    definition: str


class SignalPage(Struct, frozen=True, kw_only=True):
    """By kind, the strongest first; `next` is the cursor of the page after these, or null."""

    signals: tuple[SignalRow, ...]
    next: str | None


@get(
    "/v1/signals",
    opt=described(
        Operation(
            tag="reports",
            summary="What reviewers may look at",
            description=(
                "Pairs that lose to each other, dumped tricks, the clock, short purses, voids: counted from what all "
                "could see of hands that are over. They prove nothing: people look and decide. JSON, or CSV with "
                "`format=csv` or Accept: text/csv. `player` may be either of a pair."
            ),
            rule=COMPLIANCE,
            answer=SignalPage,
            also=(CSV,),
            refusals=("holds_seat",),
        )
    ),
)
async def signal_list(
    request: Incoming,
    kind: FromQuery[SignalKind | None] = None,
    player: FromQuery[PlayerId | None] = None,
    cursor: FromQuery[Cursor | None] = None,
    limit: FromQuery[PageSize] = 50,
    format: FromQuery[Format | None] = None,  # noqa: A002  # the name that a query has for it
) -> Response[bytes]:
    """R2: a reviewer holds no seat. Read from the projection, which may be a moment behind."""
    check_cursor(cursor, tuple[Kind, Weight, PlayerId, Other, Currency])
    await no_seat(house(request), caller_of(request))
    page = await signals(house(request).reader, kind=kind, player=player, cursor=cursor, limit=limit)
    # Nobody reviews himself; so a page may be shorter.
    me = caller_of(request).subject
    shown = tuple(each for each in page.items if me not in (each.player, each.other))
    rows = tuple(SignalRow(**asdict(each), definition=DEFINITIONS[each.kind]) for each in shown)
    whole = SignalPage(signals=rows, next=page.next)
    return tabled(request, format, "signals", reports.SIGNALS, shown, page.next, whole)
