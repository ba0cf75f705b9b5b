"""The parts that routes use, made once by whoever starts the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar.connection import ASGIConnection
from msgspec import Struct

from infra.audit import Checkpoints
from infra.clock import Clock
from infra.codec import Codec
from infra.projection_store import ProjectionReader
from infra.store import EventStore
from services.api.access import Access
from services.api.sessions import SessionEnds
from services.api.tokens import Sessions, Verifier
from services.audit.bundle import Bundles
from services.disputes.service import Disputes
from services.live.hub import Hub
from services.play.service import Play
from services.watch import Watch

Digest = Callable[[str, str, bytes], str]
"""(method, path, body) → HMAC, hex; see infra.sealing."""


class House(Struct, frozen=True, kw_only=True):
    """All of them. `secure_cookies` where browsers reach the service over https."""

    store: EventStore
    codec: Codec
    play: Play
    reader: ProjectionReader
    hub: Hub
    access: Access
    checkpoints: Checkpoints
    bundles: Bundles
    disputes: Disputes
    watch: Watch
    clock: Clock
    digest: Digest
    bearer: Verifier
    codes: Verifier
    sessions: Sessions
    ends: SessionEnds
    secure_cookies: bool = False


def house(connection: ASGIConnection[Any, Any, Any, Any]) -> House:
    """The parts of the app that this request came to."""
    found: House = connection.app.state.house
    return found
