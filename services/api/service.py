"""Routes of the service itself: health, metrics, the OpenAPI document, and what a problem's type means."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from litestar import Request, Response, get
from msgspec import Meta
from prometheus_client import CONTENT_TYPE_LATEST

from infra.faults import Fault
from services.api.access import STREAM
from services.api.answers import Health, ProblemKind
from services.api.house import house
from services.api.metrics import STREAMS
from services.api.operation import Operation, described
from services.api.problems import PROBLEMS, Rejection
from services.api.roles import ANYONE, OPS
from services.exposition import exposition

Incoming = Request[Any, Any, Any]
Code = Annotated[str, Meta(pattern=r"^[a-z0-9_]{1,40}$(?!\n)", description="a problem's code", examples=["stale_turn"])]

READY_WITHIN_S = 2.0
CACHED = {"Cache-Control": "public, max-age=60"}
DOCUMENT = "document"
"""Where the app keeps the document's bytes."""


@get(
    "/healthz",
    opt=described(Operation(tag="service", summary="Whether the process lives", rule=ANYONE, answer=Health)),
)
async def health(request: Incoming) -> Health:
    """It answers, so it does."""
    return Health(status="ok")


@get(
    "/readyz",
    opt=described(
        Operation(
            tag="service",
            summary="Whether the service can do its work",
            rule=ANYONE,
            answer=Health,
            problems=("unavailable",),
        )
    ),
)
async def ready(request: Incoming) -> Health:
    """Postgres is needed; Redis is not, and is told of where it is away."""
    rooms = house(request)
    try:
        async with asyncio.timeout(READY_WITHIN_S):
            await rooms.store.head(STREAM)
    except (Fault, TimeoutError):
        raise Rejection("unavailable", "the event store does not answer") from None
    return Health(status="ok", missing=() if rooms.hub.linked else ("redis",))


@get(
    "/metrics",
    opt=described(
        Operation(
            tag="service",
            summary="Metrics, in the form of Prometheus",
            rule=OPS,
            answer=str,
            media_type="text/plain",
        )
    ),
)
async def metrics(request: Incoming) -> Response[bytes]:
    """Of this process, and of the whole service as far as the store answers."""
    rooms = house(request)
    STREAMS.set(rooms.hub.streams.total)
    return Response(await exposition(rooms.store, rooms.watch), headers={"Content-Type": CONTENT_TYPE_LATEST})


@get(
    "/schema/openapi.json",
    opt=described(
        Operation(tag="service", summary="This document", rule=ANYONE, answer=dict[str, Any]),
    ),
)
async def openapi(request: Incoming) -> Response[bytes]:
    """Made once, when the app was."""
    return Response(request.app.state[DOCUMENT], media_type="application/json", headers=CACHED)


@get(
    "/problems/{code:str}",
    opt=described(
        Operation(
            tag="service",
            summary="What a problem's type means",
            rule=ANYONE,
            answer=ProblemKind,
            problems=("not_found",),
        )
    ),
)
async def problem_kind(request: Incoming, code: Code) -> Response[ProblemKind]:
    """The `type` of a problem is this path."""
    kind = PROBLEMS.get(code)
    if kind is None:
        raise Rejection("not_found", f"there is no problem {code}")
    return Response(ProblemKind(type=f"/problems/{code}", title=kind.title, status=kind.status), headers=CACHED)


ROUTES = (health, ready, metrics, openapi, problem_kind)
