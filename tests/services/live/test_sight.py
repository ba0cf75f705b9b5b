"""What spectators cost and learn: the log is read once for all of them, and nothing past what they may see is told."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import msgspec
import pytest

from domain.commands import Leave, StartHand
from infra.clock import ManualClock
from infra.projection_store import ProjectionReader
from infra.redis import Subscriber
from projections.catalogue import VERSIONS
from projections.lobby import changed_tables, open_tables, tables_vector
from services.api.answers import table_now
from services.live import following as live_following
from services.live import past as live_past
from services.live.following import Audience, follow
from services.live.hub import Hub
from services.live.lobby import Lobby, LobbyReads
from services.live.messages import PING
from services.live.past import READERS, Past, page_of
from services.live.sight import Sight
from services.live.streams import Holder, Streams
from services.play.service import Play, table_stream
from services.play.types import Answer, Step
from tests.conftest import Database
from tests.services.house import SETTINGS, House, house_on, play_hand

BEGAN_MS = 1_800_000_000_000
DELAY_MS = 600_000
DELAYED = msgspec.structs.replace(SETTINGS, spectator_delay_ms=DELAY_MS)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(BEGAN_MS)


@pytest.fixture
async def house(database: Database, clock: ManualClock) -> AsyncIterator[House]:
    async with house_on(database.app_url, clock, "sight") as made:
        yield made


@pytest.fixture
async def elsewhere(database: Database, clock: ManualClock) -> AsyncIterator[House]:
    """Another process, which has none of the tables in memory."""
    async with house_on(database.app_url, clock, "elsewhere") as made:
        yield made


class Reads:
    """How often steps are read, how many, and how many reads went on at a time."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._under_way = 0
        self.count = 0
        self.folded = 0
        self.at_once = 0

    async def steps(self, table_id: str, after: int, limit: int) -> list[Step]:
        """As `Play.steps`."""
        self._under_way += 1
        self.count += 1
        self.at_once = max(self.at_once, self._under_way)
        found = await self._play.steps(table_id, after, limit)
        self._under_way -= 1
        self.folded += len(found)
        return found


async def played(house: House, clock: ManualClock, table_id: str, hands: int) -> list[Step]:
    """All that was recorded at a table after so many hands, a minute apart."""
    chance = random.Random(7)
    for _ in range(hands):
        clock.advance(60_000)
        answer = await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
        assert isinstance(answer, Answer), answer
        clock.advance(1_000)
        await play_hand(house, table_id, chance)
    return await house.play.steps(table_id, 0, 10_000)


@asynccontextmanager
async def hub_on(house: House, database: Database, redis_url: str) -> AsyncIterator[Hub]:
    """A hub that is told of this process's appends."""
    reader = ProjectionReader(database.app_url, versions=VERSIONS)

    async def versions(table_ids: Iterable[str]) -> Mapping[str, int]:
        heads = await house.store.heads(table_stream(each) for each in table_ids)
        return {each: heads[table_stream(each)].seq for each in table_ids}

    async def open_now(limit: int) -> tuple[tuple[object, ...], str | None]:
        page = await open_tables(reader, limit=limit)
        return page.items, page.next

    reads = LobbyReads(
        vector=lambda: tables_vector(reader),
        changed=lambda since: changed_tables(reader, since),
        open_tables=open_now,  # type: ignore[arg-type]
    )
    streams = Streams()
    async with reader:
        lobby = Lobby(reads, house.clock, streams)
        yield Hub(house.play, versions, house.clock, Subscriber(redis_url), lobby, streams)


def audience(player: str | None) -> Audience:
    holder = Holder.at("192.0.2.1") if player is None else Holder(player, has_token=True)
    return Audience(player=player, holder=holder, expires_ms=None)


async def opening(hub: Hub, table_id: str, player: str | None, after: int | None) -> bytes:
    async with aclosing(follow(hub, table_id, audience(player), after, table_now)) as chunks:
        return await anext(chunks)


async def test_a_page_is_read_once_for_all_who_want_it_and_few_are_read_at_a_time(
    house: House, elsewhere: House, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once 31 replays of 1,000 events each left no reader of the store to anybody's command."""
    monkeypatch.setattr(live_past, "PAGE", 8)
    table_id = await house.table("anna", "boris")
    steps = await played(house, clock, table_id, 2)
    version = len(steps)
    reads = Reads(elsewhere.play)
    past = Past(reads.steps)
    starts = [0, 1, 7, 8, 9, version - 1, version]
    for after, found in zip(
        starts * 20, await asyncio.gather(*(past.after(table_id, each, version) for each in starts * 20)), strict=True
    ):
        assert found == steps[after:]
    assert reads.count == (version + 7) // 8
    assert reads.folded == version
    assert reads.at_once == READERS
    assert await past.after(table_id, 3, 21) == steps[3:21]
    assert reads.count == (version + 7) // 8


async def test_what_comes_to_a_page_later_is_read_then(house: House, clock: ManualClock) -> None:
    table_id = await house.table("anna", "boris")
    reads = Reads(house.play)
    past = Past(reads.steps)
    before = await past.after(table_id, 0, 3)
    steps = await played(house, clock, table_id, 1)
    assert await past.after(table_id, 0, len(steps)) == steps
    assert before == steps[:3]


async def test_what_is_longest_unused_is_forgotten_and_read_again(
    house: House, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_past, "PAGE", 4)
    monkeypatch.setattr(live_past, "PAGES", 2)
    table_id = await house.table("anna", "boris")
    steps = await played(house, clock, table_id, 1)
    reads = Reads(house.play)
    past = Past(reads.steps)
    for number, count in ((0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4)):
        assert await past.page(table_id, number, len(steps)) == steps[4 * number : 4 * number + 4]
        assert reads.count == count


async def test_k2_a_delayed_spectator_sees_the_last_step_recorded_so_long_ago_at_every_moment(
    house: House, elsewhere: House, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_past, "PAGE", 8)
    table_id = await house.table("anna", "boris", settings=DELAYED)
    steps = await played(house, clock, table_id, 4)
    sight = Sight(elsewhere.play.table, Past(elsewhere.play.steps))
    moments = sorted({s.at_ms + DELAY_MS + by for s in steps for by in (-1, 0, 1)})
    # In order, then back and forth, as other nodes' clocks and long silences would have it.
    for now_ms in [*moments, *random.Random(3).sample(moments, len(moments))]:
        visible = [s for s in steps if s.at_ms + DELAY_MS <= now_ms]
        expected = (visible[-1].seq, visible[-1].after) if visible else None
        assert await sight.seen(table_id, None, now_ms) == expected
    assert await sight.seen(table_id, "anna", moments[0]) == (len(steps), steps[-1].after)


async def test_k2_the_delayed_view_is_found_once_for_all_spectators_and_moves_on_by_what_is_new(
    house: House, elsewhere: House, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each look at a table with 2,390 events within its delay read and folded them all."""
    monkeypatch.setattr(live_past, "PAGE", 8)
    table_id = await house.table("anna", "boris", settings=DELAYED)
    steps = await played(house, clock, table_id, 6)
    pages = (len(steps) + 7) // 8
    reads = Reads(elsewhere.play)
    sight = Sight(elsewhere.play.table, Past(reads.steps))
    middle = steps[len(steps) // 2].at_ms + DELAY_MS
    found = await asyncio.gather(*(sight.seen(table_id, None, middle) for _ in range(300)))
    assert len({seen[0] for seen in found if seen is not None}) == 1
    assert None not in found
    first = reads.count
    assert first <= 2 * pages.bit_length() + 2
    assert reads.at_once == 1
    for _ in range(100):
        assert await sight.seen(table_id, None, middle) == found[0]
    assert reads.count == first
    for now_ms in range(middle, steps[-1].at_ms + DELAY_MS, 500):
        await asyncio.gather(*(sight.seen(table_id, None, now_ms) for _ in range(3)))
    assert reads.count <= pages


async def test_k2_before_the_first_step_may_be_seen_there_is_nothing_and_looking_is_free(
    house: House, elsewhere: House, clock: ManualClock
) -> None:
    table_id = await house.table("anna", "boris", settings=DELAYED)
    await played(house, clock, table_id, 3)
    reads = Reads(elsewhere.play)
    sight = Sight(elsewhere.play.table, Past(reads.steps))
    found = await asyncio.gather(*(sight.seen(table_id, None, BEGAN_MS + DELAY_MS - 1) for _ in range(50)))
    assert found == [None] * 50
    first = reads.count
    assert first <= 2
    assert await sight.seen(table_id, None, BEGAN_MS + DELAY_MS - 1) is None
    assert reads.count == first


async def test_spectators_who_resume_share_what_is_read_and_who_asks_for_more_has_nothing_read(
    house: House,
    elsewhere: House,
    database: Database,
    redis_url: str,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_past, "PAGE", 8)
    monkeypatch.setattr(live_following, "RING", 20)
    table_id = await house.table("anna", "boris")
    version = len(await played(house, clock, table_id, 4))
    reads = Reads(elsewhere.play)
    async with hub_on(elsewhere, database, redis_url) as hub:
        hub.past = Past(reads.steps)
        for after in (version - 21, 0, version + 1):
            assert b"event: snapshot" in await opening(hub, table_id, None, after)
        assert reads.count == 0
        resumed = await asyncio.gather(*(opening(hub, table_id, None, version - 20) for _ in range(31)))
        assert not any(b"event: snapshot" in each for each in resumed)
        assert reads.count == page_of(version) - page_of(version - 20) + 1
        assert b"event: snapshot" not in await opening(hub, table_id, "anna", 0)
        assert reads.count == page_of(version) + 1


async def test_k2_a_delayed_spectator_is_answered_alike_for_all_numbers_past_what_he_may_see(
    house: House, database: Database, redis_url: str, clock: ManualClock
) -> None:
    """Once `after` gave a snapshot past the newest event and nothing before it, which told how many there are."""
    table_id = await house.table(settings=DELAYED)
    clock.advance(DELAY_MS)
    await house.account("anna", 200_000)
    await house.account("boris", 200_000)
    for player in ("anna", "boris"):
        assert isinstance(await house.sit(table_id, player, 100_000), Answer)
    version = len(await played(house, clock, table_id, 1))
    async with hub_on(house, database, redis_url) as hub:
        for caller in (None, "stranger"):
            seen = await hub.sight.seen(table_id, caller, clock.now_ms())
            assert seen is not None
            assert seen[0] < version - 10
            whole = await opening(hub, table_id, caller, None)
            assert b"event: snapshot" in whole
            for after in (seen[0] + 1, version - 1, version, version + 1, 10**9):
                assert await opening(hub, table_id, caller, after) == whole
            assert b"event: snapshot" not in await opening(hub, table_id, caller, seen[0])
        assert b"event: snapshot" not in await opening(hub, table_id, "anna", version)


async def test_k2_who_has_left_a_delayed_table_sees_again_what_happened_while_he_sat_there(
    house: House, database: Database, redis_url: str, clock: ManualClock
) -> None:
    table_id = await house.table(settings=DELAYED)
    clock.advance(DELAY_MS)
    await house.account("anna", 200_000)
    await house.sit(table_id, "anna", 100_000)
    left = await house.do(table_id, "anna", lambda at, _: Leave(at_ms=at, player="anna"))
    assert isinstance(left, Answer)
    await house.account("boris", 200_000)
    await house.sit(table_id, "boris", 100_000)
    async with (
        hub_on(house, database, redis_url) as hub,
        aclosing(follow(hub, table_id, audience("anna"), left.version, table_now)) as chunks,
    ):
        assert b"event: snapshot" in await anext(chunks)
        again = await asyncio.wait_for(anext(chunks), 10)
        assert [line for line in again.splitlines() if line.startswith(b"id:")] == [b"id: 3", b"id: 4"]
        assert (left.version, b'"player_left"' in again) == (4, True)


async def test_k2_a_delayed_stream_is_pinged_whatever_happens_meanwhile(
    house: House, database: Database, redis_url: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each event that might not be seen yet put the ping off, so that silence told of it."""
    monkeypatch.setattr(live_following, "PING_S", 0.05)
    table_id = await house.table(settings=DELAYED)
    clock.advance(DELAY_MS)
    async with (
        hub_on(house, database, redis_url) as hub,
        hub.following(table_id) as feed,
        aclosing(follow(hub, table_id, audience(None), None, table_now)) as chunks,
    ):
        assert feed is not None
        assert b"event: snapshot" in await anext(chunks)
        ping = asyncio.ensure_future(anext(chunks))
        async with asyncio.timeout(10):
            while not ping.done():
                feed.wake()
                await asyncio.sleep(0.005)
        assert await ping == PING


async def test_who_plays_is_served_before_who_watches(
    house: House, database: Database, redis_url: str, clock: ManualClock
) -> None:
    """His stream and the answer to what was done at the table, however many watch, and though they came first."""
    table_id = await house.table("anna", "boris")
    served: list[str | None] = []
    async with hub_on(house, database, redis_url) as hub, AsyncExitStack() as stack:

        async def next_of(player: str | None, chunks: AsyncGenerator[bytes]) -> None:
            await anext(chunks)
            served.append(player)

        waiting = []
        for player in (None, None, "anna"):
            chunks = await stack.enter_async_context(aclosing(follow(hub, table_id, audience(player), None, table_now)))
            assert b"event: snapshot" in await anext(chunks)
            waiting.append(asyncio.create_task(next_of(player, chunks)))
            await asyncio.sleep(0)
        assert isinstance(await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at)), Answer)
        served.append("the answer")
        await asyncio.gather(*waiting)
    assert served == ["anna", "the answer", None, None]
