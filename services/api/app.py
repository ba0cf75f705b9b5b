"""The API as an ASGI app, made of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers import BaseRouteHandler
from litestar.types import ControllerRouterHandler

from services.api.accounts import Accounts
from services.api.auth import RULE, Door
from services.api.care import TableCare
from services.api.hands import Hands
from services.api.headers import finishing
from services.api.house import House
from services.api.lobby import LobbyRoutes
from services.api.openapi import document, query_names, routes
from services.api.problems import Rejection, answer_error
from services.api.seats import Seats
from services.api.service import DOCUMENT, ROUTES
from services.api.session import SessionRoutes
from services.api.tables import Tables

MAX_BODY = 16 * 1024
QUERY = "query"


def create_app(house: House, *, more: Sequence[ControllerRouterHandler] = ()) -> Litestar:
    """The whole API over these parts, with `more` routes (pages), each of which names its rule in `opt["roles"]`.

    The app starts nothing: whoever made the parts runs `house.hub`.
    """
    app = Litestar(
        route_handlers=[Tables, Seats, TableCare, LobbyRoutes, Accounts, Hands, SessionRoutes, *ROUTES, *more],
        guards=[Door(house.bearer, house.sessions), known_query],
        exception_handlers={Exception: answer_error},
        before_send=[finishing(house.clock, secure=house.secure_cookies)],
        request_max_body_size=MAX_BODY,
        state=State({"house": house}),
        openapi_config=None,
        logging_config=None,
    )
    for route in routes(app):
        assert RULE in route.handler.opt, f"{route.method} {route.path} has no rule"
        route.handler.opt[QUERY] = frozenset(query_names(route))
    app.state[DOCUMENT] = msgspec.json.encode(document(app))
    return app


def known_query(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """A guard: a query parameter that the route does not know, or twice, is refused rather than passed over."""
    if not connection.scope.get("query_string"):
        return
    known = handler.opt.get(QUERY)
    if known is None:
        return  # a page's
    names = [name for name, _ in connection.query_params.multi_items()]
    for name in names:
        if name not in known:
            right = ", ".join(sorted(known)) or "none"
            raise Rejection("invalid", f"query: there is no such parameter here; known: {right}")
        if names.count(name) > 1:
            raise Rejection("invalid", f"{name}: given more than once")
