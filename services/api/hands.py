"""Routes of hands that are over: list, look, take the file. Source: DESIGN "The API", rulebook H, S6."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Controller, Request, Response, get
from litestar.params import FromQuery

from domain.handfile import HandFileError, from_events, redact, to_json
from domain.money import MAX_AMOUNT
from projections.disputes import is_corrected
from projections.hands import HandRow, hands_by_id
from projections.search import Flag, Wanted, search
from services.api.access import What
from services.api.answers import HandFileJson, HandNow, HandPage
from services.api.auth import caller_of
from services.api.examining import LOOK_REFUSALS, ended_hand, open_to, record_look, seat_of, stored_hand
from services.api.forms import LATEST, Bank, Cursor, HandId, Moment, Number, PageSize, PlayerId, TableId, Text
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
                    "The last to end first; the list holds results and no cards. A player has his own. All that "
                    "is asked must hold: who was dealt in, where, when it ended (from `from_ms` until before `to_ms`), "
                    "the bank that was played for, and what was uncommon in it."
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
        flag: FromQuery[Flag | None] = None,
        from_ms: FromQuery[Moment] = 0,
        to_ms: FromQuery[Moment] = LATEST,
        min_bank: FromQuery[Bank] = 0,
        max_bank: FromQuery[Bank | None] = None,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[PageSize] = 50,
    ) -> HandPage:
        """Read from the projections, which may be a moment behind."""
        reader, caller = house(request).reader, caller_of(request)
        if caller.role == "player":
            if player not in (None, caller.subject):
                raise Rejection("not_allowed", "a player sees the list of his own hands alone")
            player = caller.subject
        check_cursor(cursor, tuple[Number, HandId])
        wanted = Wanted(
            player=player,
            table_id=table_id,
            flag=flag,
            from_ms=from_ms,
            to_ms=to_ms,
            min_bank=min_bank,
            max_bank=MAX_AMOUNT if max_bank is None else max_bank,
        )
        page = await search(reader, wanted, cursor=cursor, limit=limit)
        rows = await hands_by_id(reader, page.items)
        return HandPage(hands=tuple(row for row in rows if row.ended_ms is not None), next=page.next)

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
                problems=("not_found", "conflict", "not_replayable"),
            )
        ),
    )
    async def hand(self, request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None) -> HandNow:
        """Who played what, the result, and the cards that the caller may see."""
        row = await ended_hand(request, hand_id)
        file = await _file(request, row, "view", reason)
        corrected = await is_corrected(house(request).reader, hand_id)
        return HandNow(**msgspec.structs.asdict(row), file=msgspec.json.decode(file), corrected=corrected)

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
                problems=("not_found", "conflict", "not_replayable"),
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
    if open_to(caller, row) or seat is None:
        return to_json(whole)
    try:
        return to_json(redact(whole, seat))
    except HandFileError as error:
        detail = (
            f"{error.field}: the record leaves the rules here, so what your seat saw cannot be told; dispute the hand"
        )
        raise Rejection("not_replayable", detail) from None
