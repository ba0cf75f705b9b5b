"""Routes of hands that are over: list, look, take the file. Source: DESIGN "The API", rulebook H, S6."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Controller, Request, Response, get
from litestar.params import FromQuery

from domain.handfile import from_events, redact, to_json
from projections.hands import HandRow, hands_of_player, hands_of_table
from services.api.access import What
from services.api.answers import HandFileJson, HandNow, HandPage
from services.api.auth import caller_of
from services.api.examining import LOOK_REFUSALS, ended_hand, open_to, record_look, seat_of, stored_hand
from services.api.forms import Cursor, HandId, Number, PageSize, PlayerId, TableId, Text
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.problems import Rejection
from services.api.roles import HAND_READERS

Incoming = Request[Any, Any, Any]


class Hands(Controller):
    """`/v1/hands`."""

    path = "/v1/hands"

    @get(
        "/",
        opt=described(
            Operation(
                tag="hands",
                summary="Hands that are over",
                description=(
                    "A player's own, the newest first. Compliance names a `player` or a `table_id`; the list holds "
                    "results and no cards."
                ),
                rule=HAND_READERS,
                answer=HandPage,
            )
        ),
    )
    async def hands(
        self,
        request: Incoming,
        player: FromQuery[PlayerId | None] = None,
        table_id: FromQuery[TableId | None] = None,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[PageSize] = 50,
    ) -> HandPage:
        """Read from the projection, which may be a moment behind."""
        reader, caller = house(request).reader, caller_of(request)
        if caller.role == "player":
            if table_id is not None or player not in (None, caller.subject):
                raise Rejection("not_allowed", "a player sees the list of his own hands alone")
            player = caller.subject
        if (player is None) == (table_id is None):
            raise Rejection("invalid", "name a player or a table_id, one of the two")
        if player is not None:
            check_cursor(cursor, tuple[Number, HandId])
            page = await hands_of_player(reader, player, cursor=cursor, limit=limit)
        else:
            assert table_id is not None
            check_cursor(cursor, tuple[Number])
            page = await hands_of_table(reader, table_id, cursor=cursor, limit=limit)
        return HandPage(hands=tuple(row for row in page.items if row.ended_ms is not None), next=page.next)

    @get(
        "/{hand_id:str}",
        opt=described(
            Operation(
                tag="hands",
                summary="A hand that is over, with its file",
                description="Compliance gives a `reason`, which is recorded.",
                rule=HAND_READERS,
                answer=HandNow,
                refusals=LOOK_REFUSALS,
                problems=("not_found", "conflict"),
            )
        ),
    )
    async def hand(self, request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None) -> HandNow:
        """Who played what, the result, and the cards that the caller may see."""
        row = await ended_hand(request, hand_id)
        file = await _file(request, row, "view", reason)
        return HandNow(**msgspec.structs.asdict(row), file=msgspec.json.decode(file))

    @get(
        "/{hand_id:str}/file",
        opt=described(
            Operation(
                tag="hands",
                summary="A hand's file",
                description="`khrap-hand/1`, for `khrap hand check`. Compliance gives a `reason`, which is recorded.",
                rule=HAND_READERS,
                answer=HandFileJson,
                refusals=LOOK_REFUSALS,
                problems=("not_found", "conflict"),
            )
        ),
    )
    async def hand_file(
        self, request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None
    ) -> Response[bytes]:
        """The same file, alone and as a download."""
        row = await ended_hand(request, hand_id)
        file = await _file(request, row, "file", reason)
        name = f'attachment; filename="hand-{hand_id}.json"'
        return Response(file, media_type="application/json", headers={"Content-Disposition": name})


async def _file(request: Incoming, row: HandRow, what: What, reason: str | None) -> bytes:
    rooms, caller = house(request), caller_of(request)
    await record_look(request, row, what, reason)
    whole = from_events([rooms.codec.decode(each) for each in await stored_hand(rooms, row)])
    seat = seat_of(row, caller.subject)
    return to_json(whole if open_to(caller, row) or seat is None else redact(whole, seat))
