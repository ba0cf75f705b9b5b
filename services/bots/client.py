"""The HTTP API as a client of it sees it: JSON, problems, and the same Idempotency-Key until there is an answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from infra.entropy import Entropy, SystemEntropy
from services.bots.wire import Answer, NotStreamed, Wire, WireLost

PATIENCE_S = 60.0
"""So long a request is repeated while the service is away, unless said otherwise."""
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
    """One caller's requests, one after another. `address` is the service's URL, `token` a bearer token or None.

    `others` are further addresses of the same service: where one drops or is away, the next is asked. A request is
    repeated for `patience_s`.
    """

    def __init__(
        self,
        address: str,
        token: str | None,
        entropy: Entropy | None = None,
        others: Sequence[str] = (),
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._addresses = deque(_host_and_port(each) for each in (address, *others))
        self._headers = "" if token is None else f"Authorization: Bearer {token}\r\n"
        self._entropy = entropy or SystemEntropy()
        self._patience_s = patience_s
        self._wire: Wire | None = None
        self._one_at_a_time = asyncio.Lock()

    async def get(self, path: str) -> Any:
        """The answer's JSON. Raises Problem; WireLost where the service stayed away."""
        return await self._until_answered(lambda wire: wire.get(path))

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer's JSON to a write. The key is made once: however often it is sent, it is done once.

        Raises Problem; WireLost where the service stayed away.
        """
        return await self.send(path, msgspec.json.encode(body or {}), self._entropy.random_bytes(16).hex())

    async def send(self, path: str, content: bytes, key: str) -> Any:
        """The answer's JSON to a write under this key, the first time or again. Raises as `post` does."""
        return await self._until_answered(lambda wire: wire.post(path, content, key))

    async def stream(self, path: str, last: int | None, silence_s: float) -> AsyncIterator[bytes]:
        """The chunks of an event stream, on a connection of its own, from after event `last` on.

        Raises NotStreamed and WireLost.
        """
        headers = "" if last is None else f"Last-Event-ID: {last}\r\n"
        try:
            wire = await Wire.connect(*self._addresses[0], self._headers)
            async for chunk in wire.stream(path, headers, silence_s):
                yield chunk
        except (NotStreamed, WireLost):
            self._addresses.rotate()
            raise

    def close(self) -> None:
        """Hang up."""
        if self._wire is not None:
            self._wire.close()

    async def _until_answered(self, send: Callable[[Wire], Awaitable[Answer]]) -> Any:
        loop = asyncio.get_running_loop()
        last = loop.time() + self._patience_s
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async with self._one_at_a_time:
                    if self._wire is None or not self._wire.is_open:
                        self._wire = await Wire.connect(*self._addresses[0], self._headers)
                    answer = await send(self._wire)
                if answer.status not in AWAY or loop.time() > last:
                    return _json(answer)
            except WireLost:
                if loop.time() > last:
                    raise
            if len(self._addresses) > 1:
                self.close()
                self._addresses.rotate()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LAST_PAUSE_S)


def _host_and_port(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    assert parts.scheme == "http", "a client for plain HTTP, on this machine or a trusted network"
    return parts.hostname or "", parts.port or 80


def _json(answer: Answer) -> Any:
    if not answer.is_success:
        raise Problem(answer)
    return msgspec.json.decode(answer.body) if answer.body else None
