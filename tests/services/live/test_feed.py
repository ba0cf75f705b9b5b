"""The parts of the live path, each alone: a feed keeps order, streams are counted, a client that does not read goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from typing import Any

import pytest
from litestar import Request

from domain.events import Settings, TableHalted, TableOpened
from domain.evolve import evolve
from domain.options import KhrapOptions
from services.api import eventstream
from services.api.eventstream import EventStream
from services.live.feed import RING, Feed
from services.live.streams import Holder, Streams, TooManyStreams
from services.play.types import Step

SETTINGS = Settings(
    currency="RUB", stake=100, entry_limit=2_000, max_seats=5, commission_bps=400, options=KhrapOptions()
)
TABLE = evolve(None, TableOpened(settings=SETTINGS), 0)


def steps(first: int, last: int) -> list[Step]:
    return [Step(seq, seq, TableHalted(reason="x"), TABLE) for seq in range(first, last + 1)]


def numbers(found: list[Step] | None) -> list[int]:
    assert found is not None
    return [step.seq for step in found]


def test_steps_come_once_and_in_order_however_they_arrive() -> None:
    feed = Feed("t", 3, TABLE)
    assert feed.advance(steps(4, 6))
    assert feed.advance(steps(5, 8))
    assert feed.advance(steps(2, 3))
    assert numbers(feed.after(3, 100)) == [4, 5, 6, 7, 8]
    assert numbers(feed.after(6, 1)) == [7]
    assert numbers(feed.after(8, 100)) == numbers(feed.after(99, 100)) == []
    assert feed.after(2, 100) is None, "it began at 4"


def test_a_hole_is_never_stepped_over() -> None:
    feed = Feed("t", 3, TABLE)
    assert not feed.advance(steps(5, 6))
    assert (feed.behind, feed.head) == (True, 3)
    assert feed.advance(steps(4, 6))
    assert numbers(feed.after(3, 100)) == [4, 5, 6]


def test_what_the_ring_has_lost_is_not_there_rather_than_wrong() -> None:
    feed = Feed("t", 0, TABLE)
    feed.advance(steps(1, RING + 10))
    assert feed.after(9, 100) is None
    assert numbers(feed.after(10, 2)) == [11, 12]


async def test_who_waits_is_woken_by_what_comes_after_he_looked() -> None:
    feed = Feed("t", 0, TABLE)
    moved = feed.moved
    feed.advance(steps(1, 1))
    async with asyncio.timeout(1):
        await moved.wait()
    assert not feed.moved.is_set()


def player(name: str) -> Holder:
    return Holder(name, has_token=True)


def test_streams_are_counted_by_holder_and_in_all() -> None:
    streams = Streams(per_caller=2, per_node=3)
    with streams.held(player("a")), streams.held(player("a")), streams.held(player("b")):
        with pytest.raises(TooManyStreams), streams.held(player("a")):
            pass
        with pytest.raises(TooManyStreams), streams.held(player("c")):
            pass
        assert streams.total == 3
    assert streams.total == 0
    with streams.held(player("c")):
        pass


def test_a_fifth_of_the_places_is_for_callers_with_a_token_however_many_addresses_have_none() -> None:
    """Once 158 addresses with 32 streams each held all 5,000 places of a node."""
    streams = Streams(per_caller=32, per_node=100)
    with ExitStack() as held:
        for number in range(80):
            held.enter_context(streams.held(Holder.at(f"10.0.0.{number}")))
        for host in ("10.0.1.1", "10.0.0.1", "2001:db8::1", "somewhere"):
            with pytest.raises(TooManyStreams, match="80 event streams without a token"):
                held.enter_context(streams.held(Holder.at(host)))
        for number in range(20):
            held.enter_context(streams.held(player(f"p{number}")))
        with pytest.raises(TooManyStreams, match="100 event streams"):
            held.enter_context(streams.held(player("late")))
    with ExitStack() as held:
        for number in range(100):
            held.enter_context(streams.held(player(f"p{number}")))
        assert streams.total == 100
    with streams.held(Holder.at("10.0.1.1")):
        assert streams.total == 1


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.8", "192.0.2.8"),
        ("somewhere", "somewhere"),
    ],
)
def test_an_address_of_ipv6_is_counted_by_its_network(host: str, name: str) -> None:
    assert Holder.at(host) == Holder(name, has_token=False)
    assert Holder.at(host) != player(name), "a subject is nobody's address"


class Client:
    """The other end of an ASGI connection. It reads `takes` messages and then no more, or goes when told."""

    def __init__(self, takes: int) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = asyncio.Event()
        self.reading = asyncio.Event()
        self._takes = takes

    async def send(self, message: Any) -> None:
        """ASGI's."""
        if len(self.sent) >= self._takes:
            await asyncio.Event().wait()
        self.sent.append(message)
        if len(self.sent) == 3:
            self.reading.set()

    async def receive(self) -> Any:
        """ASGI's."""
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Source:
    """Chunks without an end; it notes when it is closed."""

    def __init__(self) -> None:
        self.closed = False

    async def chunks(self) -> AsyncGenerator[bytes]:
        """As `services.live.following.follow`."""
        try:
            while True:
                yield b": x\n\n"
                await asyncio.sleep(0)
        finally:
            self.closed = True


async def answered(chunks: AsyncGenerator[bytes], client: Client) -> None:
    """The stream as the framework runs it."""
    scope: Any = {"type": "http", "headers": [], "state": {}}
    await EventStream(chunks)._stream(Request(scope), scope, client.receive, client.send)


async def test_a_client_that_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventstream, "SEND_S", 0.05)
    source, client = Source(), Client(takes=5)
    async with asyncio.timeout(5):
        await answered(source.chunks(), client)
    assert source.closed
    assert len(client.sent) == 5


async def test_a_mistake_on_the_way_breaks_off_the_stream_and_tells_the_log_no_cards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(eventstream.log, "error", lambda word, **facts: told.append(facts))

    async def mistaken() -> AsyncGenerator[bytes]:
        yield b": x\n\n"
        raise AssertionError(["As", "Kd"])

    client = Client(takes=10)
    await answered(mistaken(), client)
    assert [message["type"] for message in client.sent] == ["http.response.start", "http.response.body"]
    assert told[0]["error"] == "AssertionError"
    assert "Kd" not in str(told)


async def test_a_client_that_goes_ends_its_stream() -> None:
    source, client = Source(), Client(takes=10**9)
    running = asyncio.create_task(answered(source.chunks(), client))
    await client.reading.wait()
    client.gone.set()
    async with asyncio.timeout(5):
        await running
    assert source.closed


async def test_what_fails_before_the_first_chunk_is_raised_before_anything_is_sent() -> None:
    async def failing() -> AsyncGenerator[bytes]:
        if client.sent == []:
            raise LookupError
        yield b""

    client = Client(takes=10)
    with pytest.raises(LookupError):
        await answered(failing(), client)
    assert client.sent == []
