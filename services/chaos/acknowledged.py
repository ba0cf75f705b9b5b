"""Writes that were answered with success: kept, and asked again later, when the answer must be the same."""

from __future__ import annotations

import asyncio
import random
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from infra.entropy import Entropy
from services.bots import Client, Problem

THINK_S = (0.01, 0.12)


class Acknowledged(Struct, frozen=True):
    """A write and its answer."""

    path: str
    content: bytes
    key: str
    token: str
    answer: Any


class Kept:
    """All of them, in a file: of a long run memory holds where each begins, and no more."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b")
        self._begins = array("Q")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._begins)

    def __getitem__(self, index: int) -> Acknowledged:
        self._file.seek(self._begins[index])
        return msgspec.json.decode(self._file.readline(), type=Acknowledged)

    def add(self, acknowledged: Acknowledged) -> None:
        """Keep one more."""
        self._begins.append(self._file.seek(0, 2))
        self._file.write(msgspec.json.encode(acknowledged) + b"\n")


class Recording(Client):
    """A client of several nodes that takes a moment before each write, and has those kept that are acknowledged."""

    def __init__(
        self,
        nodes: Sequence[str],
        token: str,
        entropy: Entropy,
        kept: Kept,
        patience_s: float,
        chance: random.Random | None = None,
    ) -> None:
        super().__init__(nodes[0], token, entropy, nodes[1:], patience_s)
        self._token = token
        self._kept = kept
        self._chance = chance

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """As a client does."""
        if self._chance is not None:
            await asyncio.sleep(self._chance.uniform(*THINK_S))
        key, content = self._entropy.random_bytes(16).hex(), msgspec.json.encode(body or {})
        answer = await self.send(path, content, key)
        self._kept.add(Acknowledged(path, content, key, self._token, answer))
        return answer


class Asker:
    """Asks again, at any node, for what was acknowledged. `asked` counts; `broken` says what was answered otherwise."""

    def __init__(self, nodes: Sequence[str], kept: Kept, patience_s: float, chance: random.Random) -> None:
        self._patience_s = patience_s
        self._nodes = nodes
        self._kept = kept
        self._chance = chance
        self._clients: dict[tuple[str, str], Client] = {}
        self.asked = 0
        self.broken: list[str] = []

    async def some(self, pause_s: float) -> None:
        """One after another, picked at random, until cancelled."""
        while True:
            await asyncio.sleep(pause_s)
            if len(self._kept):
                await self._ask(self._kept[self._chance.randrange(len(self._kept))])

    async def all(self, at_once: int) -> None:
        """Each once."""
        left = iter(range(len(self._kept)))

        async def work() -> None:
            for index in left:
                await self._ask(self._kept[index])

        await asyncio.gather(*(work() for _ in range(at_once)))

    async def _ask(self, sent: Acknowledged) -> None:
        nodes = self._chance.sample(self._nodes, len(self._nodes))
        client = self._clients.get((sent.token, nodes[0]))
        if client is None:
            client = Client(nodes[0], sent.token, None, nodes[1:], self._patience_s)
            self._clients[sent.token, nodes[0]] = client
        try:
            answer = await client.send(sent.path, sent.content, sent.key)
        except Problem as problem:
            self.broken.append(f"{sent.path} {sent.key} was acknowledged, and asked again is refused: {problem}")
        else:
            if answer != sent.answer:
                self.broken.append(f"{sent.path} {sent.key} was answered {sent.answer}, and asked again {answer}")
        self.asked += 1
