"""Routes of hands that are over: list, look, take the file. Source: DESIGN "The API", rulebook H, S6.

A player has his own hands. Whole, with every deck and the seed, where the table discloses them to those dealt in (S6),
else redacted for his seat (H7). Compliance has all of every hand, and each look is an event with its reason. A running
hand is nobody's.
"""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Controller, Request, Response, get
from litestar.params import FromQuery

from domain.handfile import from_events, redact, to_json
from projections.hands import HandRow, hand, hands_of_player, hands_of_table
from services.api.access import What
from services.api.answers import HandFileJson, HandNow, HandPage
from services.api.auth import caller_of
from services.api.forms import Cursor, HandId, Number, PageSize, PlayerId, TableId, Text
from services.api.house import House, house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.problems import Rejection
from services.api.roles import HAND_READERS
from services.play.service import table_stream
from services.play.types import Caller

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
                problems=("not_found", "conflict"),
            )
        ),
    )
    async def hand(self, request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None) -> HandNow:
        """Who played what, the result, and the cards that the caller may see."""
        row = await _ended(request, hand_id)
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
                problems=("not_found", "conflict"),
            )
        ),
    )
    async def hand_file(
        self, request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None
    ) -> Response[bytes]:
        """The same file, alone and as a download."""
        row = await _ended(request, hand_id)
        file = await _file(request, row, "file", reason)
        name = f'attachment; filename="hand-{hand_id}.json"'
        return Response(file, media_type="application/json", headers={"Content-Disposition": name})


async def _ended(request: Incoming, hand_id: str) -> HandRow:
    """The hand, where it is over and the caller's to see. Raises Rejection: it is not told which of these it is not."""
    caller = caller_of(request)
    row = await hand(house(request).reader, hand_id)
    if row is None or row.ended_ms is None or (caller.role == "player" and _seat(row, caller) is None):
        raise Rejection("not_found", f"there is no hand {hand_id} that is over and yours to see")
    return row


async def _file(request: Incoming, row: HandRow, what: What, reason: str | None) -> bytes:
    rooms, caller = house(request), caller_of(request)
    if caller.role == "compliance":
        if reason is None:
            raise Rejection("invalid", "reason: say why; it is recorded")
        await rooms.access.looked(caller, row.hand_id, row.table_id, what, reason)
    elif reason is not None:
        raise Rejection("invalid", "reason: for compliance; your own hands you look at without one")
    whole = from_events(await _events(rooms, row))
    seat = _seat(row, caller)
    open_to_him = caller.role == "compliance" or row.disclosed_to == "after_hand"
    assert open_to_him or seat is not None, row.hand_id
    return to_json(whole if open_to_him or seat is None else redact(whole, seat))


async def _events(rooms: House, row: HandRow) -> list[Any]:
    assert row.last_seq is not None, row.hand_id
    count = row.last_seq - row.first_seq + 1
    stored = await rooms.store.read_stream(table_stream(row.table_id), after=row.first_seq - 1, limit=count)
    return [rooms.codec.decode(each) for each in stored]


def _seat(row: HandRow, caller: Caller) -> int | None:
    """Where the caller was dealt in, or None."""
    return next((p.seat for p in row.players if p.player == caller.subject), None)
