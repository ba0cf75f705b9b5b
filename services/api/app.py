"""The API as an ASGI app, made of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Litestar, Request
from litestar.datastructures import State
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from services.api.accounts import Accounts
from services.api.audit import AuditRoutes, hand_bundle
from services.api.auth import RULE, Door
from services.api.care import TableCare
from services.api.disputes import Disputes
from services.api.hands import Hands
from services.api.headers import finishing
from services.api.house import House
from services.api.lobby import LobbyRoutes
from services.api.looks import LOOKS
from services.api.openapi import document, parameters_of, routes
from services.api.ops import OpsRoutes
from services.api.problems import Rejection, answer_error
from services.api.replays import replay
from services.api.reports import Reports
from services.api.seats import Seats
from services.api.service import DOCUMENT, ROUTES
from services.api.session import SessionRoutes
from services.api.signals import signal_list
from services.api.tables import Tables

MAX_BODY = 16 * 1024
PARAMETERS = "parameters"


def create_app(house: House, *, more: Sequence[ControllerRouterHandler] = ()) -> Litestar:
    """The whole API over these parts, with `more` routes (pages), each of which names its rule in `opt["roles"]`.

    The app starts nothing: whoever made the parts runs `house.hub`.
    """
    door = Door(house.bearer, house.sessions, house.ends)

    async def enter(request: Request[Any, Any, Any]) -> None:
        # The framework takes `/tables//events` for `/tables/events`: another thing than was meant.
        if b"//" in request.scope["raw_path"]:
            raise Rejection("not_found", "a part of the path is empty")
        await door(request)
        parameters_valid(request)

    app = Litestar(
        route_handlers=[
            Tables,
            Seats,
            TableCare,
            LobbyRoutes,
            Accounts,
            Hands,
            AuditRoutes,
            hand_bundle,
            replay,
            Disputes,
            Reports,
            *LOOKS,
            signal_list,
            SessionRoutes,
            OpsRoutes,
            *ROUTES,
            *more,
        ],
        # Not guards: the framework copies the route for each guard and request, a fifth of what a small request costs.
        before_request=enter,
        exception_handlers={Exception: answer_error},
        before_send=[finishing(house.clock, secure=house.secure_cookies)],
        request_max_body_size=MAX_BODY,
        state=State({"house": house}),
        openapi_config=None,
        logging_config=None,
        debug=False,  # else the framework's environment variables decide what an error shows
        pdb_on_exception=False,
    )
    for route in app.routes:
        assert isinstance(route, HTTPRoute), f"{route.path} has no door"
        for handler in route.route_handlers:
            # One that is nearer to a route would stand in place of ours.
            assert handler.resolve_before_request() is app.before_request, f"{route.path} has another door"
    for each in routes(app):
        assert RULE in each.handler.opt, f"{each.method} {each.path} has no rule"
        each.handler.opt[PARAMETERS] = parameters_of(each)
    app.state[DOCUMENT] = msgspec.json.encode(document(app))
    return app


def parameters_valid(request: Request[Any, Any, Any]) -> None:
    """Path and query are what the document says, before anything is done with them.

    The framework leaves out what a type's `Meta` demands, and passes over unknown and repeated query parameters.
    Raises Rejection and ValidationError, which names the parameter.
    """
    shape = request.route_handler.opt.get(PARAMETERS)
    if shape is None:
        return  # a page's
    given = dict(request.scope["path_params"])
    if request.scope.get("query_string"):
        for name, value in request.query_params.multi_items():
            if name in given:
                raise Rejection("invalid", f"query: `{name}` is given more than once, or is a part of the path")
            given[name] = value
    if given or shape.__struct_fields__:
        msgspec.convert(given, shape, strict=False)
