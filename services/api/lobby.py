"""Routes of the lobby: the open tables, and their changes as they happen. Source: DESIGN "The API"."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, get

from domain.options import GameName
from projections.lobby import open_tables
from services.api.auth import verified_of
from services.api.eventstream import EventStream, holder_of
from services.api.forms import Currency, Cursor, PageSize, TableId
from services.api.house import house
from services.api.operation import EVENT_STREAM, Operation, described
from services.api.paging import check_cursor
from services.api.roles import ANYONE
from services.live.lobby import LobbyView, entry

Incoming = Request[Any, Any, Any]


class LobbyRoutes(Controller):
    """`/v1/tables`: what anyone may see."""

    path = "/v1/tables"

    @get(
        "/",
        opt=described(
            Operation(
                tag="lobby",
                summary="The open tables",
                description="The first opened first. From the projection, which may be a moment behind.",
                rule=ANYONE,
                answer=LobbyView,
            )
        ),
    )
    async def tables(
        self,
        request: Incoming,
        game: GameName | None = None,
        currency: Currency | None = None,
        with_room: bool = False,
        cursor: Cursor | None = None,
        limit: PageSize = 50,
    ) -> LobbyView:
        """A page of them."""
        check_cursor(cursor, tuple[TableId])
        page = await open_tables(
            house(request).reader, cursor=cursor, limit=limit, game=game, currency=currency, with_room=with_room
        )
        return LobbyView(tables=tuple(entry(table) for table in page.items), next=page.next)

    @get(
        "/events",
        opt=described(
            Operation(
                tag="lobby",
                summary="Follow the lobby",
                description=(
                    "Server-sent events: first `snapshot` (as GET of the list, up to 1,000 tables), then `table` for "
                    "each table that changes or closes. It has no numbers: who comes back gets a new snapshot. `end` "
                    "names the reason: `token_expired`, `too_slow`, `closing`."
                ),
                rule=ANYONE,
                answer=None,
                media_type=EVENT_STREAM,
                problems=("too_many_streams",),
            )
        ),
    )
    async def lobby_events(self, request: Incoming) -> EventStream:
        """See `services.live.lobby`."""
        verified = verified_of(request)
        expires_ms = verified.expires_ms if verified else None
        return EventStream(house(request).hub.lobby.follow(holder_of(request), expires_ms))
