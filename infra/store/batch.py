"""Questions that come at the same time share a round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class Batch(Generic[Key, Answer]):
    """Keys that are asked for while a question is under way are asked together in the next one.

    So every answer was read after its key was asked for, and no key waits for more than two round trips.
    """

    def __init__(self, ask: Callable[[list[Key]], Awaitable[Mapping[Key, Answer]]]) -> None:
        self._ask = ask
        self._next: dict[Key, asyncio.Future[Answer | None]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def get(self, key: Key) -> Answer | None:
        """The answer to `key`, or None if there is none. Raises what the question raises."""
        answer = self._next.get(key)
        if answer is None:
            answer = self._next[key] = asyncio.get_running_loop().create_future()
        if self._asking is None:
            self._asking = asyncio.create_task(self._run())
        # Others may wait for the same answer: who goes away must not take it with him.
        return await asyncio.shield(answer)

    async def _run(self) -> None:
        try:
            while self._next:
                asked, self._next = self._next, {}
                try:
                    answers = await self._ask(list(asked))
                except Exception as error:  # noqa: BLE001 (all who asked are told)
                    for waiting in asked.values():
                        waiting.set_exception(error)
                        waiting.exception()  # it is known, even if all who asked have gone away
                else:
                    for key, waiting in asked.items():
                        waiting.set_result(answers.get(key))
        finally:
            self._asking = None
