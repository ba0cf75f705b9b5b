"""The HTTP API as a client of it sees it: JSON, problems, and the same Idempotency-Key until there is an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from infra.entropy import Entropy, SystemEntropy
from services.bots.wire import Answer, Wire, WireLost

PATIENCE_S = 60.0
"""So long a request is repeated while the service is away."""
FIRST_PAUSE_S = 0.02
LAST_PAUSE_S = 2.0
AWAY = (502, 503, 504)


class Problem(Exception):
    """The service said no: `status`, `code` (stable) and `detail` of its problem; `retry_after_s` where it gave one."""

    def __init__(self, answer: Answer) -> None:
        try:
            self.body = msgspec.json.decode(answer.body, type=dict[str, Any])
        except msgspec.MsgspecError:
            self.body = {}
        self.status = answer.status
        self.code = str(self.body.get("code", ""))
        self.detail = str(self.body.get("detail", ""))
        self.retry_after_s = float(answer.retry_after) if answer.retry_after.isdigit() else None
        super().__init__(f"{self.status} {self.code}: {self.detail}")


class Client:
    """One caller's requests, one after another. `address` is the service's URL, `token` a bearer token or None."""

    def __init__(self, address: str, token: str | None, entropy: Entropy | None = None) -> None:
        parts = urlsplit(address)
        assert parts.scheme == "http", "a client for plain HTTP, on this machine or a trusted network"
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._headers = "" if token is None else f"Authorization: Bearer {token}\r\n"
        self._entropy = entropy or SystemEntropy()
        self._wire: Wire | None = None
        self._one_at_a_time = asyncio.Lock()

    async def get(self, path: str) -> Any:
        """The answer's JSON. Raises Problem; WireLost where the service stayed away."""
        return await self._until_answered(lambda wire: wire.get(path))

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer's JSON to a write. The key is made once: however often it is sent, it is done once.

        Raises Problem; WireLost where the service stayed away.
        """
        key, content = self._entropy.random_bytes(16).hex(), msgspec.json.encode(body or {})
        return await self._until_answered(lambda wire: wire.post(path, content, key))

    async def stream(self, path: str, last: int | None, silence_s: float) -> AsyncIterator[bytes]:
        """The chunks of an event stream, on a connection of its own, from after event `last` on.

        Raises NotStreamed and WireLost.
        """
        wire = await Wire.connect(self._host, self._port, self._headers)
        headers = "" if last is None else f"Last-Event-ID: {last}\r\n"
        async for chunk in wire.stream(path, headers, silence_s):
            yield chunk

    def close(self) -> None:
        """Hang up."""
        if self._wire is not None:
            self._wire.close()

    async def _until_answered(self, send: Callable[[Wire], Awaitable[Answer]]) -> Any:
        loop = asyncio.get_running_loop()
        last = loop.time() + PATIENCE_S
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async with self._one_at_a_time:
                    if self._wire is None or not self._wire.is_open:
                        self._wire = await Wire.connect(self._host, self._port, self._headers)
                    answer = await send(self._wire)
                if answer.status not in AWAY or loop.time() > last:
                    return _json(answer)
            except WireLost:
                if loop.time() > last:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LAST_PAUSE_S)


def _json(answer: Answer) -> Any:
    if not answer.is_success:
        raise Problem(answer)
    return msgspec.json.decode(answer.body) if answer.body else None
