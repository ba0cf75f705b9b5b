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
from services.api.openapi import document, parameters_of, routes
from services.api.problems import Rejection, answer_error
from services.api.seats import Seats
from services.api.service import DOCUMENT, ROUTES
from services.api.session import SessionRoutes
from services.api.tables import Tables

MAX_BODY = 16 * 1024
PARAMETERS = "parameters"


def create_app(house: House, *, more: Sequence[ControllerRouterHandler] = ()) -> Litestar:
    """The whole API over these parts, with `more` routes (pages), each of which names its rule in `opt["roles"]`.

    The app starts nothing: whoever made the parts runs `house.hub`.
    """
    app = Litestar(
        route_handlers=[Tables, Seats, TableCare, LobbyRoutes, Accounts, Hands, SessionRoutes, *ROUTES, *more],
        guards=[Door(house.bearer, house.sessions), parameters_valid],
        exception_handlers={Exception: answer_error},
        before_send=[finishing(house.clock, secure=house.secure_cookies)],
        request_max_body_size=MAX_BODY,
        state=State({"house": house}),
        openapi_config=None,
        logging_config=None,
    )
    for route in routes(app):
        assert RULE in route.handler.opt, f"{route.method} {route.path} has no rule"
        route.handler.opt[PARAMETERS] = parameters_of(route)
    app.state[DOCUMENT] = msgspec.json.encode(document(app))
    return app


async def parameters_valid(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """A guard: path and query are what the document says, before anything is done with them.

    The framework leaves out what a type's `Meta` demands, and passes over unknown and repeated query parameters.
    Raises Rejection and ValidationError, which names the parameter.
    """
    shape = handler.opt.get(PARAMETERS)
    if shape is None:
        return  # a page's
    given = dict(connection.scope["path_params"])
    if connection.scope.get("query_string"):
        for name, value in connection.query_params.multi_items():
            if name in given:
                raise Rejection("invalid", f"query: `{name}` is given more than once, or is a part of the path")
            given[name] = value
    if given or shape.__struct_fields__:
        msgspec.convert(given, shape, strict=False)
