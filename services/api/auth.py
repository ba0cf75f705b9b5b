"""Who asks, and whether his role may: one door for the whole app, before anything of the request is read.

A caller is known by a bearer token, or by a session cookie, whose writes must come from our own pages (`Origin`).
A token is never looked for in a query.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection

from infra.faults import Fault
from services.api.headers import BEGAN
from services.api.problems import Rejection
from services.api.roles import ANYONE, Rule
from services.api.sessions import SessionEnds
from services.api.tokens import NotValid, Sessions, Verified, Verifier
from services.play.types import Caller

COOKIE = "khrap_session"
READS = ("GET", "HEAD", "OPTIONS")
RULE = "roles"
MAX_TOKEN = 4_096

Connection = ASGIConnection[Any, Any, Any, Any]


class Door:
    """Every request comes through it; it sets `scope["auth"]` to the verified token, or None."""

    def __init__(self, bearer: Verifier, sessions: Sessions, ends: SessionEnds) -> None:
        self._bearer = bearer
        self._sessions = sessions
        self._ends = ends

    async def __call__(self, connection: Connection) -> None:
        """Raises Rejection: 401 without a valid token where one is needed, 403 for another role or origin.

        Raises Fault where it cannot be read whether the session was ended, and the route is not for anyone.
        """
        connection.scope[BEGAN] = perf_counter()  # type: ignore[literal-required]
        rule: Rule | None = connection.route_handler.opt.get(RULE)
        if rule is None:
            assert connection.scope.get("method") == "OPTIONS", "a route without a rule"
            rule = ANYONE  # the framework's own answer to OPTIONS
        verified = self._verified(connection)
        if verified is not None and session_cookie(connection) is not None and await self._is_ended(verified, rule):
            verified = None
        connection.scope["auth"] = verified
        if verified is None:
            if "anyone" not in rule:
                raise Rejection("not_authenticated", "send a token: Authorization: Bearer …")
        elif verified.caller.role not in rule:
            may = ", ".join(sorted(rule - {"anyone"}))
            raise Rejection("not_allowed", f"this is for the role {may}, the token's is {verified.caller.role}")

    async def _is_ended(self, session: Verified, rule: Rule) -> bool:
        """While the store is away a session that may have been ended speaks for nobody."""
        assert session.jti is not None, "a session has a name"
        try:
            return await self._ends.is_ended(session.jti)
        except Fault:
            if "anyone" not in rule:
                raise
            return True

    def _verified(self, connection: Connection) -> Verified | None:
        headers = connection.headers.getall("authorization", [])
        if len(headers) > 1:
            raise Rejection("not_authenticated", "send one Authorization header")
        if headers:
            return self._by_header(headers[0])
        cookie = session_cookie(connection)
        if cookie is None:
            return None
        try:
            verified = self._sessions.verify(cookie)
        except NotValid:
            return None  # the browser sends an old one by itself; who has to have a valid one is told so above
        if connection.scope.get("method") not in READS:
            own_origin(connection)
        return verified

    def _by_header(self, header: str) -> Verified:
        scheme, _, token = header.partition(" ")
        try:
            if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN:
                raise NotValid("the Authorization header is not of the form: Bearer <token>")
            return self._bearer.verify(token.strip())
        except NotValid as error:
            raise Rejection("not_authenticated", str(error)) from None


def session_cookie(connection: Connection) -> str | None:
    """The cookie, where it is what says who asks: a bearer token goes before it."""
    cookie = connection.cookies.get(COOKIE) if connection.headers.get("authorization") is None else None
    return cookie if cookie is not None and len(cookie) <= MAX_TOKEN else None


def own_origin(connection: Connection) -> None:
    """A write by cookie comes from a page of this host, or not at all. Raises Rejection."""
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is None or not host or _host_of(origin) != host.lower():
        raise Rejection("foreign_origin", "a write with a session cookie must come from a page of this host")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # such as a bracket that is not closed
        return None


def verified_of(connection: Connection) -> Verified | None:
    """The verified token of a request that came through the door, or None where there was none."""
    verified: Verified | None = connection.scope.get("auth")
    return verified


def caller_of(connection: Connection) -> Caller:
    """The caller of a route that asks for a role."""
    verified = verified_of(connection)
    assert verified is not None, "a route for anyone has no certain caller"
    return verified.caller


def player_of(connection: Connection) -> str | None:
    """The caller's name where he is a player, or None: whoever else looks at a table is a spectator."""
    verified = verified_of(connection)
    return verified.caller.subject if verified is not None and verified.caller.role == "player" else None
