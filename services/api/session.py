"""Sessions of pages: a one-time code for a cookie that no script can read. Source: DESIGN "The API"."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from litestar import Controller, Request, Response, delete, get, post
from litestar.datastructures import Cookie

from services.api.answers import Session, SessionNow
from services.api.auth import COOKIE, own_origin, session_cookie, verified_of
from services.api.bodies import Nothing, SessionBody
from services.api.house import house
from services.api.operation import Operation, described
from services.api.problems import Rejection
from services.api.roles import ANYONE
from services.api.tokens import SESSION_S, NotValid
from services.api.writes import decode, idempotency_key

Incoming = Request[Any, Any, Any]


class SessionRoutes(Controller):
    """`/v1/session`."""

    path = "/v1/session"

    @get(
        "/",
        opt=described(
            Operation(
                tag="session",
                summary="For whom this request speaks",
                description="A page asks it, since no script can read the cookie; whoever has a token may ask too.",
                rule=ANYONE,
                answer=SessionNow,
            )
        ),
    )
    async def session(self, request: Incoming) -> SessionNow:
        """An old cookie speaks for nobody."""
        verified = verified_of(request)
        if verified is None:
            return SessionNow(subject=None, role=None, expires_ms=None)
        return SessionNow(subject=verified.caller.subject, role=verified.caller.role, expires_ms=verified.expires_ms)

    @post(
        "/",
        status_code=200,
        opt=described(
            Operation(
                tag="session",
                summary="Exchange a one-time code for a session cookie",
                description="For pages of this host. A code is good once; the same code with the same key is repeated.",
                rule=ANYONE,
                answer=Session,
                writes=True,
                body=SessionBody,
                problems=("code_spent", "too_large", "unsupported_media_type"),
                example={"code": "eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl"},
            )
        ),
    )
    async def begin(self, request: Incoming) -> Response[Session]:
        """The cookie is HttpOnly and SameSite=Strict, and ends by itself."""
        own_origin(request)
        key = idempotency_key(request)
        content = await request.body()
        body = decode(request, content, SessionBody)
        rooms = house(request)
        try:
            verified = rooms.codes.verify(body.code)
        except NotValid as error:
            raise Rejection("code_spent", str(error)) from None
        digest = rooms.digest(request.method, request.scope["path"], content)
        if verified.jti is None or not await rooms.access.spend(verified.caller, verified.jti, key, digest):
            raise Rejection("code_spent", "the code was used already; ask for a new one")
        expires_ms = rooms.clock.now_ms() + SESSION_S * 1_000
        session = Session(subject=verified.caller.subject, role=verified.caller.role, expires_ms=expires_ms)
        cookie = _cookie(rooms.sessions.sign(verified.caller, verified.jti), SESSION_S, secure=rooms.secure_cookies)
        return Response(session, cookies=[cookie])

    @delete(
        "/",
        status_code=204,
        opt=described(
            Operation(
                tag="session",
                summary="End the session",
                description="For all processes: at once in the one that answers, within 30 s in the others.",
                rule=ANYONE,
                answer=None,
                status=204,
                writes=True,
                body=Nothing,
            )
        ),
    )
    async def finish(self, request: Incoming) -> Response[None]:
        """The browser forgets the cookie, and whoever has a copy of it has nothing."""
        idempotency_key(request)
        decode(request, await request.body(), Nothing)
        rooms = house(request)
        cookie = session_cookie(request)
        if cookie is not None:
            # Not as the door found it: where the store is away that says nobody, and nothing would be ended.
            with suppress(NotValid):
                session = rooms.sessions.verify(cookie)
                assert session.jti is not None, "a session has a name"
                await rooms.ends.end(session.caller, session.jti)
        return Response(None, status_code=204, cookies=[_cookie("", 0, secure=rooms.secure_cookies)])


def _cookie(value: str, max_age_s: int, *, secure: bool) -> Cookie:
    return Cookie(COOKIE, value=value, max_age=max_age_s, path="/", httponly=True, samesite="strict", secure=secure)
