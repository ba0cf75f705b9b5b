"""Routes of the lobby: open a table, see the open ones, follow how they change. Source: DESIGN "The API", T1."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, get, post
from litestar.params import FromQuery

from domain.options import GameName
from projections.lobby import open_tables
from services.api.answers import Opened
from services.api.auth import verified_of
from services.api.bodies import OpenTableBody
from services.api.eventstream import EventStream, holder_of
from services.api.forms import Currency, Cursor, PageSize, TableId
from services.api.house import house
from services.api.operation import EVENT_STREAM, Operation, described
from services.api.paging import check_cursor
from services.api.problems import unless_answered
from services.api.roles import ANYONE, OPERATOR
from services.api.writes import written
from services.live.lobby import LobbyView, entry
from services.play import types as play

Incoming = Request[Any, Any, Any]


class LobbyRoutes(Controller):
    """`/v1/tables`: all tables."""

    path = "/v1/tables"

    @post(
        "/",
        opt=described(
            Operation(
                tag="tables",
                summary="Open a table",
                rule=OPERATOR,
                answer=Opened,
                status=201,
                writes=True,
                body=OpenTableBody,
                example={"currency": "RUB", "stake": 2_000, "options": {"game": "khrap"}, "turn_ms": 300_000},
            )
        ),
    )
    async def open_table(self, request: Incoming) -> Response[Opened]:
        """T1."""
        asked, body = await written(request, OpenTableBody)
        table_id, outcome = await house(request).play.open_table(asked, body.settings())
        unless_answered(outcome)
        assert isinstance(outcome, play.Answer)
        opened = Opened(table_id=table_id, version=outcome.version, turn=outcome.turn, events=outcome.events)
        return Response(opened, status_code=201, headers={"Location": f"/v1/tables/{table_id}"})

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
        game: FromQuery[GameName | None] = None,
        currency: FromQuery[Currency | None] = None,
        with_room: FromQuery[bool] = False,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[PageSize] = 50,
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
                    "names the reason: `token_expired`, `signed_out`, `too_slow`, `closing`."
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
