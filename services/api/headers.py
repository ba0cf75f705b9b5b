"""What every answer carries, whatever made it: the service's time, no caching, and what browsers need to be told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

from litestar.types import Message, Scope

from infra.clock import Clock, rfc3339
from services.api.metrics import UNMATCHED, counted

BEGAN = "khrap.began"
"""Where the door leaves the time at which the request came, for the metrics."""

FIXED = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"private, no-store"),
)
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def finishing(clock: Clock, *, secure: bool) -> Callable[[Message, Scope], Awaitable[None]]:
    """The hook that the framework calls before each message of an answer. A header that a route set stays."""
    fixed = (*FIXED, STRICT_TRANSPORT) if secure else FIXED

    async def finish(message: Message, scope: Scope) -> None:
        if message["type"] != "http.response.start":
            return
        given = list(message.get("headers", ()))
        there = {name.lower() for name, _ in given}
        missing = [each for each in fixed if each[0] not in there]
        message["headers"] = [*given, (b"server-time", rfc3339(clock.now_ms()).encode()), *missing]
        counters = counted(str(scope.get("method")), str(scope.get("path_template", UNMATCHED)))
        counters.answered(message["status"])
        began = scope.get(BEGAN)
        if isinstance(began, float):
            counters.seconds.observe(perf_counter() - began)

    return finish
