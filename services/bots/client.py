"""The HTTP API as a client of it sees it: JSON, problems, and the same Idempotency-Key until there is an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from infra.entropy import Entropy, SystemEntropy

PATIENCE_S = 60.0
"""So long a request is repeated while the service is away."""
FIRST_PAUSE_S = 0.05
LAST_PAUSE_S = 2.0
AWAY = (502, 503, 504)


class Problem(Exception):
    """The service said no: `status`, `code` (stable) and `detail` of its problem; `retry_after_s` where it gave one."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after_s: float | None = None) -> None:
        self.status = status
        self.code = str(body.get("code", ""))
        self.detail = str(body.get("detail", ""))
        self.body = body
        self.retry_after_s = retry_after_s
        super().__init__(f"{status} {self.code}: {self.detail}")


class Client:
    """One caller's requests. `http` has the base URL; `token` is a bearer token, None for a spectator."""

    def __init__(self, http: httpx.AsyncClient, token: str | None, entropy: Entropy | None = None) -> None:
        self.http = http
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._entropy = entropy or SystemEntropy()

    async def get(self, path: str) -> Any:
        """The answer's JSON. Raises Problem; httpx.TransportError where the service stayed away."""
        return await self._until_answered("GET", path, None, self.headers)

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer's JSON to a write. The key is made once: however often it is sent, it is done once.

        Raises Problem; httpx.TransportError where the service stayed away.
        """
        headers = {
            **self.headers,
            "Idempotency-Key": self._entropy.random_bytes(16).hex(),
            "Content-Type": "application/json",
        }
        return await self._until_answered("POST", path, msgspec.json.encode(body or {}), headers)

    async def _until_answered(self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]) -> Any:
        loop = asyncio.get_running_loop()
        last = loop.time() + PATIENCE_S
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                response = await self.http.request(method, path, content=content, headers=dict(headers))
                if response.status_code not in AWAY or loop.time() > last:
                    return _answered(response)
            except httpx.TransportError:
                if loop.time() > last:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LAST_PAUSE_S)


def _answered(response: httpx.Response) -> Any:
    if response.is_success:
        return msgspec.json.decode(response.content) if response.content else None
    try:
        body = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.MsgspecError:
        body = {"detail": response.text[:200]}
    after = response.headers.get("Retry-After", "")
    raise Problem(response.status_code, body, float(after) if after.isdigit() else None)
