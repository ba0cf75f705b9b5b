"""The one table that turns refusals, faults and wrong requests into problems, walked over everything that it is for."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from litestar.exceptions import HTTPException, InternalServerException, ValidationException
from litestar.status_codes import HTTP_418_IM_A_TEAPOT

from domain.legal import Offer
from domain.refusal import Code, Refused
from infra.faults import Fault
from services.api.bodies import MoneyBody
from services.api.problems import FAULTS, LASTING, PROBLEMS, REFUSALS, Refusing, Rejection, problem_of, unless_answered
from services.play.types import KeyReused, NotFound, Refusal


def test_every_code_of_the_rules_has_its_problem_and_no_other_code_has() -> None:
    assert set(get_args(Code)) == set(REFUSALS)


@pytest.mark.parametrize("code", get_args(Code))
def test_a_refusal_is_409_with_clause_and_own_actions_and_too_many_requests_429(code: Code) -> None:
    refusal = Refusal(Refused(code, "K15", "what would be right"), 7, 17, (Offer("pass"),))
    shown, headers = problem_of(Refusing(refusal))
    assert msgspec.json.decode(msgspec.json.encode(shown)) == {
        "type": f"/problems/{code}",
        "title": REFUSALS[code].title,
        "status": 429 if code == "too_many_requests" else 409,
        "detail": "what would be right",
        "code": code,
        "clause": "K15",
        "legal_actions": [{"do": "pass"}],
        "turn": 17,
        "version": 7,
    }
    assert ("Retry-After" in headers) == (code == "too_many_requests")


def test_who_does_not_sit_there_learns_neither_turn_nor_version() -> None:
    refusal = Refusal(Refused("not_seated", "T3", "…"), 7, 17)
    shown, _ = problem_of(Refusing(refusal, shows_game=False))
    told = msgspec.to_builtins(shown)
    assert (told["turn"], told["version"]) == (None, None)


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_type_is_stable_titled_and_has_an_error_status(code: str) -> None:
    kind = PROBLEMS[code]
    assert 400 <= kind.status <= 503
    assert kind.title


@pytest.mark.parametrize("code", [*FAULTS, "something_new"])
def test_a_fault_that_may_pass_is_503_with_retry_after(code: str) -> None:
    shown, headers = problem_of(Fault(code, "the detail"))
    assert (shown.status, shown.code) == (503, code if code in FAULTS else "unavailable")
    assert headers == {"Retry-After": "1"}


@pytest.mark.parametrize("code", sorted(LASTING))
def test_a_fault_that_stays_is_500_and_says_nothing(code: str) -> None:
    shown, _ = problem_of(Fault(code, "event 7 of table-… does not open"))
    assert (shown.status, shown.code) == (500, "internal")
    assert "event 7" not in shown.detail


def test_what_nobody_foresaw_is_500_and_says_nothing() -> None:
    for error in (AssertionError(["As", "Kd"]), KeyError("secret"), InternalServerException("secret")):
        shown, _ = problem_of(error)
        assert (shown.status, shown.code) == (500, "internal")
        assert "secret" not in shown.detail
        assert "As" not in shown.detail


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (401, "not_authenticated"),
        (403, "not_allowed"),
        (404, "not_found"),
        (413, "too_large"),
        (415, "unsupported_media_type"),
        (HTTP_418_IM_A_TEAPOT, "bad_request"),
    ],
)
def test_an_error_of_the_framework_becomes_one_of_ours(status: int, code: str) -> None:
    shown, _ = problem_of(HTTPException(detail="the framework's words", status_code=status))
    assert shown.code == code
    assert shown.status == PROBLEMS[code].status
    assert "framework" not in shown.detail


def test_content_is_422_and_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(b'{"amount": "12"}', type=MoneyBody)
    shown, _ = problem_of(caught.value)
    assert (shown.status, shown.code) == (422, "invalid")
    assert shown.detail == "Expected `int`, got `str` - at `$.amount`"
    framework = ValidationException("Validation failed for GET /x?token=1", extra=[{"key": "after", "message": "no"}])
    assert problem_of(framework)[0].detail == "after: no"


def test_outcomes_that_are_no_answer_are_raised() -> None:
    with pytest.raises(Rejection) as caught:
        unless_answered(KeyReused("k"))
    assert problem_of(caught.value)[0].status == 422
    with pytest.raises(Rejection) as caught:
        unless_answered(NotFound("table 1"))
    assert problem_of(caught.value)[0].status == 404
