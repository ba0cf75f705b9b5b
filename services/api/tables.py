"""Routes of tables: open one, look at it, follow it. Source: DESIGN "The API", rulebook T1."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, get
from litestar.params import FromQuery

from services.api.answers import TableNow, table_now
from services.api.auth import player_of, verified_of
from services.api.eventstream import EventStream, holder_of, last_seen
from services.api.forms import Number, TableId
from services.api.house import house
from services.api.operation import EVENT_STREAM, Operation, described
from services.api.problems import Rejection
from services.api.roles import ANYONE
from services.live.following import Audience, follow

Incoming = Request[Any, Any, Any]


class Tables(Controller):
    """`/v1/tables`."""

    path = "/v1/tables"

    @get(
        "/{table_id:str}",
        opt=described(
            Operation(
                tag="tables",
                summary="A table as the caller may see it",
                description="Own cards, legal actions and deadline for who sits there; else what a spectator sees.",
                rule=ANYONE,
                answer=TableNow,
                problems=("not_found", "no_spectators"),
            )
        ),
    )
    async def table(self, request: Incoming, table_id: TableId) -> TableNow:
        """K2, S6: who does not sit there is a spectator, delayed as the table has it."""
        rooms, player = house(request), player_of(request)
        found = await rooms.hub.sight.seen(table_id, player, rooms.clock.now_ms())
        if found is None:
            raise Rejection("not_found", f"there is no table {table_id}")
        version, table = found
        return table_now(table_id, version, table, player)

    @get(
        "/{table_id:str}/events",
        opt=described(
            Operation(
                tag="tables",
                summary="Follow a table",
                description=(
                    "Server-sent events: first `snapshot` (as GET of the table), then `event` for each recorded "
                    "event, `id` being its number: `seq`, `at`, its public half, own `cards`; where a decision is open "
                    "after it `turn`, and for who sits there `legal_actions`. With `Last-Event-ID` or `after` the "
                    "stream goes on from there, by replay or with a new snapshot. A comment every 15 s. `end` names "
                    "a reason: `token_expired`, `signed_out`, `table_closed`, `no_spectators`, `too_slow`, "
                    "`unavailable`, `closing`."
                ),
                rule=ANYONE,
                answer=None,
                media_type=EVENT_STREAM,
                headers=("Last-Event-ID",),
                problems=("not_found", "no_spectators", "too_many_streams"),
            )
        ),
    )
    async def table_events(
        self, request: Incoming, table_id: TableId, after: FromQuery[Number | None] = None
    ) -> EventStream:
        """See `services.live.following`."""
        verified = verified_of(request)
        audience = Audience(
            player=player_of(request),
            holder=holder_of(request),
            expires_ms=verified.expires_ms if verified else None,
        )
        chunks = follow(house(request).hub, table_id, audience, last_seen(request, after), table_now)
        return EventStream(chunks)
