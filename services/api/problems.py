"""RFC 9457 problems: the one table that turns refusals, faults and wrong requests into status and type.

A problem's `type` is `/problems/<code>` and never changes its meaning; `detail` is for people and may change.
"""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, InternalServerException, MethodNotAllowedException, ValidationException
from msgspec import Struct

from domain.legal import Offer
from infra.faults import Fault
from infra.telemetry import logger
from services.api.forms import IN_WORDS
from services.live.following import NoSuchTable
from services.live.mistakes import told
from services.live.sight import NoSpectators
from services.live.streams import TooManyStreams
from services.play.types import KeyReused, NotFound, Refusal

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "1"

log = logger("api")


class Kind(Struct, frozen=True):
    """What all problems of a code have in common."""

    status: int
    title: str


REFUSALS: dict[str, Kind] = {
    "hand_over": Kind(409, "The hand is over"),
    "not_in_hand": Kind(409, "Not dealt into this hand"),
    "not_your_turn": Kind(409, "Not your turn"),
    "not_offered": Kind(409, "No such choice now"),
    "card_not_held": Kind(409, "A card that is not held"),
    "wrong_discard_count": Kind(409, "A wrong number of cards"),
    "must_follow_suit": Kind(409, "The suit led must be followed"),
    "must_trump": Kind(409, "A trump must be played"),
    "stale_turn": Kind(409, "Another decision is open"),
    "insufficient_funds": Kind(409, "Not enough money on the account"),
    "below_entry_limit": Kind(409, "Less than the table asks for"),
    "seat_taken": Kind(409, "The seat is taken"),
    "table_full": Kind(409, "No such free seat"),
    "already_seated": Kind(409, "Seated here already"),
    "in_hand": Kind(409, "Not while in a hand"),
    "table_halted": Kind(409, "The table is halted"),
    "table_closing": Kind(409, "The table is closing or closed"),
    "table_limit": Kind(409, "More than a table takes"),
    "account_limit": Kind(409, "More than an account takes by a deposit"),
    "not_seated": Kind(409, "Not seated at this table"),
    "too_many_requests": Kind(429, "Too many acts between hands"),
    "account_exists": Kind(409, "There is such an account already"),
    "no_account": Kind(409, "There is no such account"),
    "two_persons": Kind(409, "Another person must confirm"),
    "not_impartial": Kind(409, "Not for a reviewer who is a party to it"),
    "holds_seat": Kind(409, "Not for a reviewer who sits at a table"),
    "dispute_exists": Kind(409, "There is such a dispute already"),
    "dispute_closed": Kind(409, "The dispute is closed"),
    "too_late": Kind(409, "The time for it is over"),
    "texts_erased": Kind(409, "The dispute's texts are erased"),
    "nothing_to_correct": Kind(409, "The hand is recorded as the rules have it"),
}
"""The codes of the rules; complete over `domain.refusal.Code`, a test walks it."""

FAULTS: dict[str, Kind] = {
    "store_unavailable": Kind(503, "The store is away for the moment"),
    "projection_missing": Kind(503, "A view is not built yet"),
    "conflict": Kind(503, "The table changes too fast for this request"),
    "unavailable": Kind(503, "A part of the service is away for the moment"),
}
"""The faults that may pass; one that is not named is `unavailable`."""
LASTING = frozenset({"store_rejected", "store_broken", "store_damaged", "event_broken", "checkpoints_broken"})
"""Faults that do not pass by themselves: `internal`."""

NOT_OPENED = (
    "its key is lost, or its stored bytes were altered, which `khrap audit verify` tells; what is public of it stands"
)
"""S7: of cards, seeds and texts. It is logged: of the two one is an alarm."""

REQUESTS: dict[str, Kind] = {
    "bad_request": Kind(400, "Not a request that can be read"),
    "not_authenticated": Kind(401, "A valid token is needed"),
    "not_allowed": Kind(403, "Not for this role"),
    "foreign_origin": Kind(403, "Not from this origin"),
    "no_spectators": Kind(403, "The table has no spectators"),
    "not_found": Kind(404, "There is no such thing"),
    "method_not_allowed": Kind(405, "Not a method of this path"),
    "not_replayable": Kind(409, "The hand's record leaves the rules"),
    "not_opened": Kind(409, "What is sealed does not open"),
    "too_large": Kind(413, "The body is too large"),
    "unsupported_media_type": Kind(415, "The body must be JSON"),
    "invalid": Kind(422, "The content is not valid"),
    "key_reused": Kind(422, "The Idempotency-Key stands for another request"),
    "code_spent": Kind(422, "The one-time code is spent or not valid"),
    "too_many_streams": Kind(429, "Too many event streams"),
    "internal": Kind(500, "Something is wrong with the service"),
}
"""What is said of the request itself, or of ourselves."""

PROBLEMS = REFUSALS | FAULTS | REQUESTS

_BY_STATUS = {
    401: "not_authenticated",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    429: "too_many_requests",
    503: "unavailable",
}


class Problem(Struct, frozen=True, kw_only=True):
    """RFC 9457: what went wrong. `type` is stable and ends in `code`; `detail` says what would be right."""

    type: str
    title: str
    status: int
    detail: str
    code: str


class RefusalProblem(Struct, frozen=True, kw_only=True):
    """A refusal by the rules: beside a problem's own members the rulebook clause, and what the caller may do instead.

    `turn` is the decision that is open, `version` the stream's number; both are null where the caller may not know.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    clause: str
    legal_actions: tuple[Offer, ...]
    turn: int | None
    version: int | None


class Rejection(Exception):
    """A request that is answered with the problem `code`. `detail` never holds a secret."""

    def __init__(self, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        assert code in PROBLEMS, code
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.headers = headers or {}


class Refusing(Exception):
    """The rules refuse. `shows_game`: whether the caller may know the table's turn and version."""

    def __init__(self, refusal: Refusal, *, shows_game: bool = True) -> None:
        super().__init__(refusal.refused.code)
        self.refusal = refusal
        self.shows_game = shows_game


def unless_answered(outcome: object, *, shows_game: bool = True) -> None:
    """Raise what an outcome of play says where it is no answer."""
    match outcome:
        case Refusal():
            raise Refusing(outcome, shows_game=shows_game)
        case KeyReused(key):
            raise Rejection(
                "key_reused", f"the Idempotency-Key {key} stands for another request already; take a new one"
            )
        case NotFound(what):
            raise Rejection("not_found", f"there is no {what}")
        case _:
            return


def problem(code: str, detail: str) -> Problem:
    """The problem of a code."""
    kind = PROBLEMS[code]
    return Problem(type=f"/problems/{code}", title=kind.title, status=kind.status, detail=detail, code=code)


def refusal_problem(refusal: Refusal, *, shows_game: bool) -> RefusalProblem:
    """The problem of a refusal."""
    refused = refusal.refused
    kind = REFUSALS[refused.code]
    return RefusalProblem(
        type=f"/problems/{refused.code}",
        title=kind.title,
        status=kind.status,
        detail=refused.detail,
        code=refused.code,
        clause=refused.clause,
        legal_actions=refusal.legal_actions,
        turn=refusal.turn if shows_game else None,
        version=refusal.version if shows_game else None,
    )


def problem_of(error: Exception) -> tuple[Problem | RefusalProblem, dict[str, str]]:
    """The problem and the headers that answer `error`; whatever is not foreseen is `internal`, without a word of it."""
    match error:
        case Refusing(refusal=refusal, shows_game=shows_game):
            shown = refusal_problem(refusal, shows_game=shows_game)
            return shown, {"Retry-After": "60"} if shown.status == 429 else {}
        case Rejection():
            return problem(error.code, error.detail), _headers(error.code, error.headers)
        case NoSuchTable():
            return problem("not_found", "there is no such table"), {}
        case NoSpectators():
            return problem("no_spectators", "only who sits at this table sees it"), {}
        case TooManyStreams():
            return problem("too_many_streams", str(error)), _headers("too_many_streams", {})
        case Fault() if error.code in FAULTS:
            return problem(error.code, error.detail), _headers(error.code, {})
        case Fault(code="seal_broken"):
            return problem("not_opened", NOT_OPENED), {}
        case Fault() if error.code not in LASTING:
            return problem("unavailable", "a part of the service is away; try again"), _headers("unavailable", {})
        case msgspec.MsgspecError():
            return problem("invalid", _in_words(str(error))), {}
        case MethodNotAllowedException():
            allowed = (error.headers or {}).get("allow", "")
            return problem("method_not_allowed", f"methods of this path: {allowed}"), {"Allow": allowed}
        case ValidationException():
            return problem("invalid", _parameters(error)), {}
        case InternalServerException(detail="client disconnected prematurely"):
            return problem("bad_request", "the connection ended before the body did"), {}
        case HTTPException() if error.status_code < 500:
            code = _BY_STATUS.get(error.status_code, "bad_request")
            return problem(code, _DETAILS.get(code, "see the schema at /schema/openapi.json")), _headers(code, {})
        case _:
            return problem(
                "internal", "it is logged; the request may or may not have been done: repeat it with its key"
            ), {}


def _in_words(text: str) -> str:
    """What msgspec says is wrong, with words for a pattern."""
    for pattern, words in IN_WORDS.items():
        text = text.replace(f"matching regex {pattern!r}", words)
    return text


_DETAILS = {
    "not_found": "there is nothing at this path; the paths are in /schema/openapi.json",
    "too_large": "a body has at most 16 KiB",
}


def _headers(code: str, given: dict[str, str]) -> dict[str, str]:
    status = PROBLEMS[code].status
    if status == 401:
        return {"WWW-Authenticate": "Bearer", **given}
    if status in (429, 503):
        return {"Retry-After": RETRY_AFTER_S, **given}
    return given


def _parameters(error: ValidationException) -> str:
    """What is wrong with path, query or headers, from the framework's list: `after: Expected `int` >= 0`."""
    found = error.extra if isinstance(error.extra, list) else []
    lines = [f"{e.get('key', '?')}: {e.get('message', '')}" for e in found if isinstance(e, dict)]
    # The framework's own sentence repeats the query, in which somebody may have put what does not belong there.
    return "; ".join(lines) or "a parameter is missing or not valid"


def respond(shown: Problem | RefusalProblem, headers: dict[str, str]) -> Response[bytes]:
    """The HTTP answer of a problem."""
    return Response(
        content=msgspec.json.encode(shown),
        status_code=shown.status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def answer_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The one exception handler of the app: no other shape of error leaves the service."""
    shown, headers = problem_of(error)
    if shown.status == 500 or shown.code == "not_opened":
        log.error("request_failed", method=request.method, route=request.scope.get("path_template"), **told(error))
    return respond(shown, headers)
