"""Requests as spans, where traces are configured. Source: `infra.tracing`."""

from __future__ import annotations

from typing import Any

from infra.tracing import span

UNTOLD = ("/events", "/healthz", "/readyz", "/metrics")
"""Streams, which last for hours, and what machines ask every few seconds."""


class Traced:
    """An ASGI app around another: each request is a span, with method, route and status."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """ASGI 3."""
        if scope["type"] != "http" or scope["path"].endswith(UNTOLD):
            await self._app(scope, receive, send)
            return
        with span("request", method=scope["method"]) as opened:

            async def sending(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    # The route, never the path: whoever asks for what is not there would write the name of a span.
                    opened.set(route=str(scope.get("path_template", "none")), status=message["status"])
                await send(message)

            await self._app(scope, receive, sending)
