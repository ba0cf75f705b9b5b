"""Event streams over real nodes: nothing missed and nothing twice, whatever drops, lags or ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from services.chaos.proxy import Link
from services.live import following as live_following
from tests.conftest import Database
from tests.services.api.following import Message, Stream, first_choice, following, is_event, play_hand
from tests.services.api.nodes import Caller, Node, running_node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def proxy(redis_url: str) -> AsyncIterator[Link]:
    parts = urlsplit(redis_url)
    async with Link(parts.path if parts.scheme == "unix" else (parts.hostname or "", parts.port or 6379)) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nodes(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    redis_url: str,
    proxy: Link,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[Node, Node]]:
    """A whole node, and an API node beside it whose Redis can be cut off."""
    home = tmp_path_factory.mktemp("home")
    with fresh_database() as database:
        async with (
            running_node(database, redis_url, home) as one,
            running_node(database, f"redis://127.0.0.1:{proxy.port}/0", home, parts=("api",)) as two,
        ):
            yield one, two


async def test_a_node_follows_what_happens_on_another_with_redis_and_without(
    nodes: tuple[Node, Node], proxy: Link
) -> None:
    one, two = nodes
    table_id = await one.open_table(turn_ms=300_000)
    await one.seat(table_id, "far-a", "far-b")
    async with following(two.as_("far-a"), f"/v1/tables/{table_id}/events", after=0) as stream:
        numbers = [m.number for m in await stream.until(is_event("cards_dealt"))]
        await play_hand(one, table_id, "far-a", "far-b")
        numbers += [m.number for m in await stream.until(is_event("hand_settled"))]
        await proxy.cut()
        await play_hand(one, table_id, "far-a", "far-b")
        numbers += [m.number for m in await stream.until(is_event("hand_settled"))]
        proxy.mend()
        await play_hand(one, table_id, "far-a", "far-b")
        numbers += [m.number for m in await stream.until(is_event("hand_settled"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert stream.pings == 0


async def test_clients_that_drop_at_any_moment_and_resume_at_any_node_see_every_event_once(
    nodes: tuple[Node, Node],
) -> None:
    table_id = await nodes[0].open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}/events"
    await nodes[0].seat(table_id, "drop-a", "drop-b")
    done = asyncio.Event()

    async def client(seed: int, player: str | None) -> list[int]:
        chance, numbers, last = random.Random(seed), list[int](), 0
        while not (done.is_set() and last >= await version()):
            node = chance.choice(nodes)
            caller = node.anyone() if player is None else node.as_(player)
            async with following(caller, path, last=last) as stream:
                for _ in range(chance.randint(1, 25)):
                    message = await _next_or_none(stream, 0.3)
                    if message is None:
                        break
                    assert message.event == "event"
                    assert message.number is not None
                    numbers.append(message.number)
                    last = message.number
        return numbers

    async def version() -> int:
        return int((await nodes[0].as_("drop-a").saw(f"/v1/tables/{table_id}"))["version"])

    clients = [
        asyncio.create_task(client(seed, player)) for seed, player in enumerate(("drop-a", "drop-b", None, None))
    ]
    for _ in range(2):
        await play_hand(nodes[0], table_id, "drop-a", "drop-b")
        await play_hand(nodes[1], table_id, "drop-a", "drop-b")
    await nodes[0].as_("drop-a").did(f"/v1/tables/{table_id}/sit-out")
    done.set()
    async with asyncio.timeout(60):
        for numbers in await asyncio.gather(*clients):
            assert numbers == list(range(1, len(numbers) + 1))


async def _next_or_none(stream: Stream, within_s: float) -> Message | None:
    try:
        return await stream.next(within_s)
    except TimeoutError:
        return None


async def test_a_stream_ends_when_its_token_does(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table()
    caller = nodes[0].anyone()
    caller.headers = {"Authorization": f"Bearer {nodes[0].token('brief', 'player', 2)}"}
    async with following(caller, f"/v1/tables/{table_id}/events") as stream:
        messages = await stream.until(lambda m: m.event == "end")
        assert [m.event for m in messages] == ["snapshot", "end"]
        assert messages[-1].data == {"reason": "token_expired"}
        assert await stream.next() is None
    assert (await caller.get("/v1/hands")).status_code == 401


async def test_a_stream_ends_when_the_table_closes(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table()
    path = f"/v1/tables/{table_id}"
    async with following(nodes[1].anyone(), f"{path}/events") as stream:
        await nodes[0].as_("olga", "operator").did(f"{path}/close", {"reason": "late"})
        messages = await stream.until(lambda m: m.event == "end")
        assert messages[-2].data["type"] == "table_closed"
        assert messages[-1].data == {"reason": "table_closed"}
    async with following(nodes[1].anyone(), f"{path}/events", after=0) as stream:
        again = await stream.until(lambda m: m.event == "end")
        assert again[-1].data == {"reason": "table_closed"}


async def test_silence_is_broken_by_a_comment(nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_following, "PING_S", 0.05)
    table_id = await nodes[0].open_table()
    async with following(nodes[0].anyone(), f"/v1/tables/{table_id}/events") as stream:
        await stream.next()
        assert await _next_or_none(stream, 0.5) is None
        assert stream.pings >= 3


async def test_a_client_that_missed_too_much_gets_a_new_snapshot(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_following, "REPLAY", 5)
    table_id = await nodes[0].open_table(turn_ms=300_000)
    await nodes[0].seat(table_id, "long-a", "long-b")
    await play_hand(nodes[0], table_id, "long-a", "long-b")
    path = f"/v1/tables/{table_id}/events"
    for last in (1, 10**9):
        async with following(nodes[0].as_("long-a"), path, last=last) as stream:
            first = await stream.next()
            assert first is not None
            assert first.event == "snapshot"
            assert first.number == first.data["version"]


async def test_beyond_the_last_steps_a_spectator_begins_anew_and_a_player_goes_on(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_following, "RING", 5)
    one, two = nodes
    table_id = await one.open_table(turn_ms=300_000)
    path = f"/v1/tables/{table_id}"
    await one.seat(table_id, "ring-a", "ring-b")
    await play_hand(one, table_id, "ring-a", "ring-b")
    await one.as_("olga", "operator").did(f"{path}/close", {"reason": "late"})
    version = int((await one.anyone().saw(path))["version"])
    for node in nodes:
        for caller, last, first_number in (
            (node.anyone(), version - 6, None),
            (node.as_("ring-c"), version - 6, None),
            (node.anyone(), version - 5, version - 4),
            (node.as_("ring-a"), 1, 2),
        ):
            async with following(caller, f"{path}/events", last=last) as stream:
                first = await stream.next()
                assert first is not None
                shown = ("snapshot", version) if first_number is None else ("event", first_number)
                assert (first.event, first.number) == shown
    async with following(two.as_("ring-b"), f"{path}/events", last=1) as stream:
        assert [m.number for m in await stream.until(is_event("table_closing"))][:3] == [2, 3, 4]


async def test_one_caller_holds_so_many_streams_and_no_more(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table()
    caller, path = nodes[0].as_("greedy"), f"/v1/tables/{table_id}/events"
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(following(caller, path)) for _ in range(32)]
        for stream in streams:
            assert await stream.next() is not None
        refused = await caller.get(path)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
        assert refused.headers["retry-after"] == "1"
        async with following(nodes[0].as_("modest"), path) as other:
            assert await other.next() is not None

    async def free() -> bool:
        async with caller.http.stream("GET", path, headers=caller.headers) as response:
            return response.status_code == 200

    await until(free)


async def test_without_spectators_only_who_sits_there_sees_the_table(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    table_id = await one.open_table(pause_ms=600_000, spectators=False)
    path = f"/v1/tables/{table_id}"
    await one.seat(table_id, "shut-a", "shut-b")
    for caller in (one.anyone(), one.as_("shut-c"), one.as_("oona", "ops"), one.as_("zoe", "compliance")):
        for door in (path, f"{path}/events"):
            refused = await caller.get(door)
            assert (refused.status_code, refused.json()["code"]) == (403, "no_spectators")
    async with following(two.as_("shut-a"), f"{path}/events") as stream:
        assert (await stream.next()) is not None
        await one.as_("shut-a").did(f"{path}/leave")
        messages = await stream.until(lambda m: m.event == "end")
        assert messages[-2].data["type"] == "player_left"
        assert messages[-1].data == {"reason": "no_spectators"}
    assert (await one.as_("shut-a").get(path)).status_code == 403


async def test_who_sits_down_later_sees_nothing_from_before_where_there_are_no_spectators(
    nodes: tuple[Node, Node],
) -> None:
    one, _ = nodes
    table_id = await one.open_table(turn_ms=300_000, spectators=False)
    path = f"/v1/tables/{table_id}"
    await one.seat(table_id, "early-a", "early-b")
    await play_hand(one, table_id, "early-a", "early-b")
    await one.seat(table_id, "late")
    async with following(one.as_("late"), f"{path}/events", after=0) as stream:
        first = await stream.next()
        assert first is not None
        assert first.event == "snapshot"
    async with following(one.as_("early-a"), f"{path}/events", after=4) as stream:
        first = await stream.next()
        assert first is not None
        assert (first.event, first.number) == ("event", 5)


async def test_spectators_are_delayed_at_every_door_and_who_sits_there_is_not(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    delay_ms = 1_500
    table_id = await one.open_table(turn_ms=300_000, spectator_delay_ms=delay_ms)
    path = f"/v1/tables/{table_id}"
    opened = await one.anyone().get(path)
    assert opened.status_code == 404, "what happened a moment ago is not there yet"
    assert (await one.anyone().get(f"{path}/events")).status_code == 404
    await one.seat(table_id, "slow-a", "slow-b")
    await asyncio.sleep(delay_ms / 1_000)
    async with (
        following(two.anyone(), f"{path}/events", after=0) as spectator,
        following(two.as_("slow-a"), f"{path}/events", after=0) as player,
    ):
        settled = asyncio.create_task(play_hand(one, table_id, "slow-a", "slow-b"))
        loop = asyncio.get_running_loop()
        seen: dict[str, dict[int, float]] = {"player": {}, "spectator": {}}

        async def read(name: str, stream: Stream) -> None:
            async with asyncio.timeout(30):
                while (message := await stream.next(30)) is not None:
                    assert message.number is not None
                    seen[name][message.number] = loop.time()
                    if name == "spectator":
                        assert "cards" not in message.data or message.data["type"] == "four_aces_shown"
                    if message.data["type"] == "hand_settled":
                        return

        await asyncio.gather(read("player", player), read("spectator", spectator))
        await settled
    assert list(seen["spectator"]) == list(seen["player"]) == list(range(1, len(seen["player"]) + 1))
    first_card = max(seen["player"])  # the settlement: long after the spectator began to listen
    assert seen["spectator"][first_card] - seen["player"][first_card] > delay_ms / 1_000 - 0.3
    # The lobby tells of such a table who sits there, and not how the game goes.
    listed = next(t for t in (await one.anyone().saw("/v1/tables", limit=200))["tables"] if t["table_id"] == table_id)
    assert (listed["carried_bank"], listed["hand_no"], listed["playing"]) == (None, None, None)
    assert len(listed["seats"]) == 2


async def test_a_refusal_tells_a_stranger_nothing_that_a_delayed_spectator_does_not_know(
    nodes: tuple[Node, Node],
) -> None:
    table_id = await nodes[0].open_table(turn_ms=300_000, spectator_delay_ms=60_000)
    path = f"/v1/tables/{table_id}"
    await nodes[0].seat(table_id, "quiet-a", "quiet-b")
    for what, body in (("actions", {"turn": 1, "do": "pass"}), ("leave", {}), ("seat", {"buy_in": 1})):
        refused = (await nodes[0].as_("stranger").post(f"{path}/{what}", body)).json()
        assert (refused["turn"], refused["version"], refused["legal_actions"]) == (None, None, [])


async def test_the_lobby_is_followed_with_redis_and_without(nodes: tuple[Node, Node], proxy: Link) -> None:
    one, two = nodes
    before = await one.open_table()

    async def listed() -> bool:
        return before in [t["table_id"] for t in (await two.anyone().saw("/v1/tables", limit=200))["tables"]]

    await until(listed)
    async with following(two.anyone(), "/v1/tables/events") as stream:
        snapshot = await stream.next()
        assert snapshot is not None
        assert snapshot.event == "snapshot"
        assert before in [t["table_id"] for t in snapshot.data["tables"]]
        table_id = await one.open_table()
        await stream.until(lambda m: m.event == "table" and m.data["table_id"] == table_id)
        await proxy.cut()
        await one.seat(table_id, "lobby-a")
        await stream.until(lambda m: m.data["table_id"] == table_id and len(m.data["seats"]) == 1)
        proxy.mend()
        await one.as_("olga", "operator").did(f"/v1/tables/{table_id}/close", {"reason": "late"})
        await stream.until(lambda m: m.data["table_id"] == table_id and m.data["closed"])


async def test_a_node_that_goes_down_lets_its_clients_go(
    nodes: tuple[Node, Node],
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    one, _ = nodes
    table_id = await one.open_table()
    addresses = one.core.addresses
    assert addresses.owner is not None
    database = Database(name="", owner_url=addresses.owner, app_url=addresses.application)
    ends = []
    async with AsyncExitStack() as clients:
        home = one.core.settings.home_folder
        async with running_node(database, redis_url, home, parts=("api",)) as short_lived:
            http = await clients.enter_async_context(httpx.AsyncClient(base_url=short_lived.url))
            for path in (f"/v1/tables/{table_id}/events", "/v1/tables/events"):
                stream = await clients.enter_async_context(following(Caller(http, None), path))
                await stream.next()
                ends.append(asyncio.create_task(stream.next()))
            began = asyncio.get_running_loop().time()
            await asyncio.sleep(0)
        assert asyncio.get_running_loop().time() - began < 5
        for end in ends:
            message = await end
            assert message is not None
            assert (message.event, message.data) == ("end", {"reason": "closing"})


async def test_f2_a_look_shows_its_cards_to_who_looked_alone(nodes: tuple[Node, Node]) -> None:
    table_id = await nodes[0].open_table(turn_ms=300_000, options={"game": "frap"})
    path = f"/v1/tables/{table_id}"
    await nodes[0].seat(table_id, "look-a", "look-b")

    async def turn() -> object:
        view = await nodes[0].as_("look-a").saw(path)
        return view if view["turn"] else None

    view = await until(turn)
    assert view["you"]["cards"] is None
    looker = nodes[0].as_("look-a")
    await looker.did(f"{path}/actions", {"turn": view["turn"]["turn"], "do": "look"})
    cards = (await looker.saw(path))["you"]["cards"]
    assert len(cards) == 4
    for caller, shown in ((looker, cards), (nodes[0].as_("look-b"), None), (nodes[0].anyone(), None)):
        async with following(caller, f"{path}/events", after=0) as stream:
            messages = await stream.until(is_event("cards_looked"))
        assert messages[-1].data.get("cards") == shown
        dealt = next(m for m in messages if is_event("cards_dealt")(m))
        assert "cards" not in dealt.data
    assert first_choice([{"do": "pass"}]) == {"do": "pass"}
