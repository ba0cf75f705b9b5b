"""Routes of privileged looks: who looked at hidden cards, shown to a second role and to the players. Source: R7."""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.params import FromQuery
from msgspec import Struct

from projections.access import Look, looks
from services.api.examining import ended_hand
from services.api.forms import LATEST, Cursor, HandId, Moment, Number, PageSize, PlayerId
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.roles import OPERATOR, PLAYER

Incoming = Request[Any, Any, Any]


class LookPage(Struct, frozen=True, kw_only=True):
    """Looks, the newest first; `next` is the cursor of the page after these, or null."""

    looks: tuple[Look, ...]
    next: str | None


class OwnLook(Struct, frozen=True, kw_only=True):
    """That somebody with the right to it looked at the cards of a hand: when, and at what."""

    at_ms: int
    what: str


class OwnLooks(Struct, frozen=True, kw_only=True):
    """The newest first; `next` is the cursor of the page after these, or null."""

    looks: tuple[OwnLook, ...]
    next: str | None


@get(
    "/v1/audit/access",
    opt=described(
        Operation(
            tag="audit",
            summary="Who looked at hidden cards",
            description="Every privileged look at a hand that is over: who, when, which hand, how and why.",
            rule=OPERATOR,
            answer=LookPage,
        )
    ),
)
async def access(
    request: Incoming,
    hand_id: FromQuery[HandId | None] = None,
    person: FromQuery[PlayerId | None] = None,
    from_ms: FromQuery[Moment] = 0,
    to_ms: FromQuery[Moment] = LATEST,
    cursor: FromQuery[Cursor | None] = None,
    limit: FromQuery[PageSize] = 50,
) -> LookPage:
    """R7. Read from the projection, which may be a moment behind."""
    check_cursor(cursor, tuple[Number])
    page = await looks(
        house(request).reader,
        hand_id=hand_id,
        person=person,
        from_ms=from_ms,
        to_ms=to_ms,
        cursor=cursor,
        limit=limit,
    )
    return LookPage(looks=page.items, next=page.next)


@get(
    "/v1/hands/{hand_id:str}/looks",
    opt=described(
        Operation(
            tag="hands",
            summary="How an own hand was looked at",
            description="When somebody with the right to it looked at its cards, and at what; not who he was.",
            rule=PLAYER,
            answer=OwnLooks,
            problems=("not_found",),
        )
    ),
)
async def own_looks(
    request: Incoming,
    hand_id: HandId,
    cursor: FromQuery[Cursor | None] = None,
    limit: FromQuery[PageSize] = 50,
) -> OwnLooks:
    """R7."""
    check_cursor(cursor, tuple[Number])
    await ended_hand(request, hand_id)
    page = await looks(house(request).reader, hand_id=hand_id, cursor=cursor, limit=limit)
    return OwnLooks(looks=tuple(OwnLook(at_ms=look.at_ms, what=look.what) for look in page.items), next=page.next)


LOOKS = (access, own_looks)
