"""Routes of those who look after a table: halt, resume, void, close. Source: rulebook T12, T13."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, post

from domain.commands import CloseTable, Fresh, HaltTable, ResumeTable, Void
from services.api.bodies import ReasonBody
from services.api.commanding import commanding, done
from services.api.forms import TableId
from services.api.house import house
from services.api.roles import OPERATOR, OPS
from services.api.writes import written
from services.play import types as play

Incoming = Request[Any, Any, Any]


class TableCare(Controller):
    """`/v1/tables/{table_id}`: what operators and ops do with a table."""

    path = "/v1/tables/{table_id:str}"

    @post(
        "/halt",
        status_code=200,
        opt=commanding(
            "Halt a table", OPS, ("table_halted",), body=ReasonBody, example={"reason": "a question of the books"}
        ),
    )
    async def halt(self, request: Incoming, table_id: TableId) -> play.Answer:
        """No hand starts and no purse leaves until it is resumed."""
        asked, body = await written(request, ReasonBody)
        return await done(request, table_id, asked, lambda at_ms, fresh: HaltTable(at_ms=at_ms, reason=body.reason))

    @post(
        "/resume",
        status_code=200,
        opt=commanding("Resume a table", OPS, ("not_offered",), body=ReasonBody, example={"reason": "books are right"}),
    )
    async def resume(self, request: Incoming, table_id: TableId) -> play.Answer:
        """The table goes on; one that the books halted, once they are right again (R5)."""
        asked, body = await written(request, ReasonBody)
        playing = house(request).play
        found = await playing.table(table_id)
        alarmed = found is not None and found[1].halt is not None and found[1].halt.fault
        differ = alarmed and await playing.books_differ(table_id)

        def make(at_ms: int, fresh: Fresh) -> ResumeTable:
            return ResumeTable(at_ms=at_ms, reason=body.reason, books_differ=differ)

        return await done(request, table_id, asked, make)

    @post(
        "/void",
        status_code=200,
        opt=commanding(
            "Propose to void the running hand, or confirm it",
            OPS,
            ("hand_over", "not_offered", "two_persons"),
            body=ReasonBody,
            example={"reason": "the network was away"},
        ),
    )
    async def void(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T12: two persons."""
        asked, body = await written(request, ReasonBody)
        person = asked.caller.subject

        def make(at_ms: int, fresh: Fresh) -> Void:
            return Void(at_ms=at_ms, ops=person, reason=body.reason, fresh=fresh)

        return await done(request, table_id, asked, make)

    @post(
        "/close",
        status_code=200,
        opt=commanding("Close a table", OPERATOR, (), body=ReasonBody, example={"reason": "the evening is over"}),
    )
    async def close(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T13: after the running hand."""
        asked, body = await written(request, ReasonBody)
        return await done(request, table_id, asked, lambda at_ms, fresh: CloseTable(at_ms=at_ms, reason=body.reason))
