"""A command to a table, from the request to the answer, and how such a route describes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar import Request
from msgspec.structs import replace

from domain.commands import Fresh, TableCommand
from services.api.house import house
from services.api.operation import Operation, described
from services.api.problems import unless_answered
from services.api.roles import Rule
from services.live.sight import seated
from services.play import types as play

Incoming = Request[Any, Any, Any]
Make = Callable[[int, Fresh], TableCommand]


def commanding(summary: str, rule: Rule, refusals: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """The `opt` of a route that is a command to a table."""
    operation = Operation(
        tag="tables",
        summary=summary,
        rule=rule,
        answer=play.Answer,
        writes=True,
        refusals=("table_closing", *refusals),
        problems=("not_found",),
        **more,
    )
    return described(operation)


async def done(request: Incoming, table_id: str, asked: play.Request, make: Make) -> play.Answer:
    """Do it, or raise what was said instead.

    A player who does not sit there learns no more than a spectator may; and who is not here as a player has no actions
    in the hand, though a player may bear his name.
    """
    playing = house(request).play
    outcome = await playing.command(table_id, asked, make)
    if isinstance(outcome, play.Answer):
        return outcome
    shows_game = True
    if isinstance(outcome, play.Refusal):
        if asked.caller.role == "player":
            found = await playing.table(table_id)
            shows_game = found is not None and seated(found[1], asked.caller.subject)
        else:
            outcome = replace(outcome, legal_actions=())
    unless_answered(outcome, shows_game=shows_game)
    raise AssertionError(type(outcome))
