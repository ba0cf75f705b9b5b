"""A whole node over a real store, and callers of it over real HTTP."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from infra.audit import Checkpoints
from infra.clock import SystemClock
from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.keys import load_keys
from infra.sealing import Sealer
from infra.settings import Settings
from infra.store import EventStore
from services.api.tokens import Signer
from services.core import Addresses, Core
from services.play.service import Play
from services.runtime import PARTS, Part, running
from tests.conftest import Database
from tests.services.api.conforming import DOCUMENT, Conforming

ROLES = ("player", "cashier", "operator", "compliance", "ops")


class Caller:
    """Somebody's requests; every write gets a fresh key unless one is given."""

    def __init__(self, http: httpx.AsyncClient, token: str | None) -> None:
        self.http = http
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """GET."""
        return await self.http.get(path, params=query or None, headers=self.headers)

    async def post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> httpx.Response:
        """POST a JSON body."""
        headers = {**self.headers, "Idempotency-Key": key or secrets.token_hex(8)}
        if body is None:
            return await self.http.post(path, headers=headers)
        headers["Content-Type"] = "application/json"
        return await self.http.post(path, content=msgspec.json.encode(body), headers=headers)

    async def did(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> Any:
        """POST what must be taken; its answer."""
        response = await self.post(path, body, key)
        assert response.is_success, response.text
        return response.json()

    async def saw(self, path: str, **query: Any) -> Any:
        """GET what must be there."""
        response = await self.get(path, **query)
        assert response.is_success, response.text
        return response.json()


class Node(Struct, frozen=True):
    """A running service: its base URL, its parts, and who signs tokens for it."""

    url: str
    core: Core
    http: httpx.AsyncClient

    def token(self, subject: str, role: str, lifetime_s: int = 3_600) -> str:
        """A bearer token."""
        return Signer(self.core.keys, self.core.clock, self.core.entropy).bearer(subject, role, lifetime_s)

    def as_(self, subject: str, role: str = "player") -> Caller:
        """A caller."""
        return Caller(self.http, self.token(subject, role))

    def checkpoints(self) -> Checkpoints:
        """Its checkpoints."""
        core = self.core
        return Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing)

    def anyone(self) -> Caller:
        """A caller without a token."""
        return Caller(self.http, None)

    async def open_table(self, **settings: Any) -> str:
        """A khrap table's id."""
        body = {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}, "pause_ms": 0, **settings}
        opened = await self.as_("olga", "operator").did("/v1/tables", body)
        return str(opened["table_id"])

    async def seat(self, table_id: str, *players: str, buy_in: int = 50_000, account: int = 100_000) -> None:
        """Accounts with money, and their players at the table, in that order."""
        till = self.as_("clara", "cashier")
        for player in players:
            opened = await till.post("/v1/accounts", {"player": player, "currency": "RUB"})
            assert opened.status_code in (201, 409), opened.text
            await till.did(f"/v1/accounts/{player}/RUB/deposits", {"amount": account})
            await self.as_(player).did(f"/v1/tables/{table_id}/seat", {"buy_in": buy_in})


@asynccontextmanager
async def running_node(
    database: Database,
    redis_url: str,
    home: Path,
    parts: Sequence[Part] = PARTS,
) -> AsyncIterator[Node]:
    """A node of these parts on the database; nodes of the same home have the same keys."""
    settings = Settings(home=str(home))
    keys = load_keys(settings)
    clock, entropy = SystemClock(), SystemEntropy()
    sealer = Sealer(keys.master, entropy)
    codec = Codec(sealer)
    async with await EventStore.open(database.app_url, readers=2) as store:
        core = Core(
            settings=settings,
            addresses=Addresses(database.owner_url, database.app_url, redis_url),
            keys=keys,
            clock=clock,
            entropy=entropy,
            sealer=sealer,
            codec=codec,
            store=store,
            play=Play(store, codec, sealer, clock, entropy),
        )
        async with running(core, parts) as url, httpx.AsyncClient(base_url=url, timeout=30) as http:
            http.event_hooks = {"response": [Conforming((await http.get(DOCUMENT)).json())]}
            yield Node(url, core, http)


async def until(holds: Callable[[], Awaitable[Any]], within_s: float = 20.0) -> Any:
    """What `holds()` gives as soon as it is true; looks often, for at most so long."""
    loop = asyncio.get_running_loop()
    last = loop.time() + within_s
    while not (found := await holds()):
        assert loop.time() < last, f"not within {within_s} s"
        await asyncio.sleep(0.02)
    return found
