"""Reading an event stream as a client does, and playing a hand by what is offered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from tests.services.api.nodes import Caller, Node


class Message(Struct, frozen=True):
    """One message of a stream."""

    event: str
    data: dict[str, Any]
    number: int | None


class Stream:
    """The messages of one response, one after another; comments are counted as `pings`."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.pings = 0
        self.raw: list[str] = []

    async def next(self, within_s: float = 10.0) -> Message | None:
        """The next message, None where the stream has ended."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(within_s):
            async for line in self._lines:
                self.raw.append(line)
                name, _, value = line.partition(": ")
                if not line and "data" in fields:
                    number = int(fields["id"]) if "id" in fields else None
                    return Message(fields.get("event", "message"), msgspec.json.decode(fields["data"]), number)
                if line.startswith(":"):
                    self.pings += 1
                elif line:
                    fields[name] = value
        return None

    async def until(self, last: Any, within_s: float = 20.0) -> list[Message]:
        """All messages up to the first for which `last` holds, that one included."""
        found: list[Message] = []
        async with asyncio.timeout(within_s):
            while (message := await self.next(within_s)) is not None:
                found.append(message)
                if last(message):
                    return found
        raise AssertionError(f"the stream ended before that: {found[-3:]}")


@asynccontextmanager
async def following(caller: Caller, path: str, last: int | None = None, **query: Any) -> AsyncIterator[Stream]:
    """An open stream."""
    headers = {**caller.headers, **({} if last is None else {"Last-Event-ID": str(last)})}
    async with caller.http.stream("GET", path, params=query or None, headers=headers, timeout=60) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Stream(response.aiter_lines())


def is_event(kind: str) -> Any:
    """Whether a message is a recorded event of this type."""
    return lambda message: message.event == "event" and message.data["type"] == kind


def first_choice(offers: list[dict[str, Any]]) -> dict[str, Any]:
    """The first of the offers, as an action."""
    offer = offers[0]
    if offer["do"] == "play":
        return {"do": "play", "card": offer["cards"][0]}
    if offer["do"] in ("discard", "draw"):
        return {"do": offer["do"], "cards": offer["cards"][: offer.get("least", 0)]}
    return {"do": offer["do"]}


async def play_hand(node: Node, table_id: str, *players: str) -> dict[str, Any]:
    """Play the running hand, or the next one, to its end; everybody takes the first choice. Its last event.

    On a slow machine the clock may play a last card first (T11): then what is returned has the hand's id alone.
    """
    path = f"/v1/tables/{table_id}"
    hand_id = None
    async with asyncio.timeout(60):  # a table at which no hand can start would be waited for without end
        while True:
            view: Mapping[str, Any] = await node.as_(players[0]).saw(path)
            hand = view["hand"]
            if hand_id is not None and (hand is None or hand["hand_id"] != hand_id or hand["result"]):
                return {"hand_id": hand_id}
            if view["turn"] is None:
                await asyncio.sleep(0.02)
                continue
            hand_id = hand["hand_id"]
            seats = {s["seat"]: s["player"] for s in view["seats"]}
            asked = node.as_(seats[view["turn"]["seat"]])
            own = (await asked.saw(path))["you"]["legal_actions"]
            if own:
                done = await asked.post(f"{path}/actions", {"turn": view["turn"]["turn"], **first_choice(own)})
                assert done.is_success or done.json()["code"] in ("stale_turn", "hand_over"), done.text
                events = done.json().get("events", ())
                settled = [e for e in events if e["type"] in ("hand_settled", "hand_voided")]
                if settled:
                    return dict(settled[0])
