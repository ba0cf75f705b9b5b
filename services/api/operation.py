"""What a route says of itself beside its code: who may, what it takes and answers, which problems it may end in.

The roles are enforced by `auth.Door`; the rest makes the OpenAPI document, which tests hold against the service.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from services.api.auth import RULE
from services.api.bodies import Body
from services.api.roles import ANYONE, Rule

OPERATION = "operation"
JSON = "application/json"
EVENT_STREAM = "text/event-stream"
SEALED = ("audit", "disputes", "hands", "ops", "tables")
"""Tags of routes that may have to open what is sealed."""


class Operation(Struct, frozen=True, kw_only=True):
    """A route as the OpenAPI document describes it. `answer` is a type that msgspec knows, None for no content.

    `also` are media types in which it is to be had as a text too.

    `refusals` are the codes of the rules that it may end in; problems that follow from the kind of the route are added
    by `problem_codes`.
    """

    tag: str
    summary: str
    rule: Rule
    answer: Any
    status: int = 200
    media_type: str = JSON
    also: tuple[str, ...] = ()
    body: type[Body] | None = None
    description: str = ""
    refusals: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    writes: bool = False
    headers: tuple[str, ...] = ()
    example: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Operation:
        """The framework copies what routes are made with; this is frozen, and its types cannot be copied."""
        return self


def described(operation: Operation) -> dict[str, Any]:
    """The `opt` of a route."""
    return {OPERATION: operation, RULE: operation.rule}


def problem_codes(operation: Operation) -> tuple[str, ...]:
    """All problem codes that the operation may answer with; an unknown query parameter is `invalid` everywhere."""
    codes = {"internal", "invalid", "not_authenticated", *operation.refusals, *operation.problems}
    if operation.rule is not ANYONE:
        codes.add("not_allowed")
    if operation.writes:
        codes |= {"foreign_origin", "unsupported_media_type", "too_large", "key_reused", "bad_request"}
    if operation.tag != "service":
        codes |= {"store_unavailable", "projection_missing", "unavailable"}
    if operation.tag in SEALED:
        codes.add("not_opened")
    if operation.writes and operation.tag != "session":
        codes.add("conflict")
    return tuple(sorted(codes))
