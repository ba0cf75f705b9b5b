"""A write as it comes in: its Idempotency-Key, its body read strictly, and the digest that a repeat must match."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec
from litestar import Request

from services.api.auth import caller_of
from services.api.bodies import Body, Nothing
from services.api.forms import IDEMPOTENCY_KEY
from services.api.house import house
from services.api.operation import OPERATION, Operation
from services.api.problems import Rejection
from services.play import types as play

T = TypeVar("T", bound=Body)
Incoming = Request[Any, Any, Any]

_KEY = re.compile(IDEMPOTENCY_KEY)
_DECODERS: dict[type[Body], msgspec.json.Decoder[Any]] = {}


async def written(request: Incoming, body: type[T]) -> tuple[play.Request, T]:
    """The request as play takes it, and its body. Raises Rejection, and ValidationError that names the field.

    Raises Fault(`unavailable`) where this process's clock is too far off: what it recorded would hold for all.
    """
    house(request).watch.check_clock()
    key, content = idempotency_key(request), await request.body()
    decoded = decode(request, content, body)
    digest = house(request).digest(request.method, request.scope["path"], content)
    return play.Request(caller_of(request), key, digest), decoded


def idempotency_key(request: Incoming) -> str:
    """The header's value. Raises Rejection."""
    given = request.headers.getall("idempotency-key", [])
    if len(given) != 1 or not _KEY.match(given[0]):
        raise Rejection(
            "invalid", "header Idempotency-Key: send one, 1 to 128 visible ASCII characters, new for each act"
        )
    return given[0]


def decode(request: Incoming, content: bytes, body: type[T]) -> T:
    """The body, of exactly this type: no unknown field, none twice, no number as text.

    Raises Rejection and ValidationError.
    """
    operation: Operation = request.route_handler.opt[OPERATION]
    assert operation.body is body, "the document says what the route reads"
    if not content and body is Nothing:
        return body()
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    if media_type.strip().lower() != "application/json" or not _utf8(parameters):
        raise Rejection("unsupported_media_type", "send the body as Content-Type: application/json")
    decoder = _DECODERS.get(body)
    if decoder is None:
        decoder = _DECODERS[body] = msgspec.json.Decoder(body)
    try:
        decoded: T = decoder.decode(content)
    except UnicodeDecodeError:
        raise Rejection("invalid", "the body is not UTF-8") from None
    json.loads(content, object_pairs_hook=_each_once)
    return decoded


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; msgspec takes the last of two fields of one name. Raises Rejection."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Rejection("invalid", f"{twice}: stands in the body more than once")
    return found


def _utf8(parameters: str) -> bool:
    text = parameters.replace(" ", "").replace('"', "").lower()
    return text in ("", "charset=utf-8")
