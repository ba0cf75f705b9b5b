"""What the simulator looks for is found: a unit too many, a hole, an answer that changed, a stream with a gap."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from domain.commands import Leave, StartHand
from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.sealing import Sealer
from services.bots.stream import Message
from services.chaos.acknowledged import Acknowledged, Asker, Kept
from services.chaos.ending import acknowledged_once, watched_all
from services.chaos.fleet import told_of_errors
from services.chaos.log import LogWatch
from services.chaos.watching import Watcher
from services.live.following import REPLAY
from services.play.types import Answer
from tests.conftest import Database
from tests.services.api.nodes import running_node
from tests.services.house import MASTER, House, house_on, play_hand


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with house_on(database.app_url) as made:
        yield made


@pytest.fixture
def log(house: House) -> LogWatch:
    return LogWatch(house.store, Codec(Sealer(MASTER, SystemEntropy())))


async def evening(house: House) -> str:
    """A table, one hand, and somebody who left."""
    table_id = await house.table("anna", "boris", "vera")
    await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
    await play_hand(house, table_id, random.Random(4))
    left = await house.do(table_id, "vera", lambda at, _: Leave(at_ms=at, player="vera"))
    assert isinstance(left, Answer)
    return f"table-{table_id}"


def change(database: Database, statement: str) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        assert owner.execute(statement.encode()).rowcount == 1


async def test_a_log_that_is_right_is_followed_to_its_end_and_nothing_is_found(house: House, log: LogWatch) -> None:
    stream = await evening(house)
    await log.look()
    first = log.events
    await play_hand(house, await house.table("gleb", "dasha"), random.Random(5))
    await log.look()
    assert log.broken == []
    assert sum((await house.store.part_heads()).values()) == log.events > first
    assert (log.tables[stream].started, log.tables[stream].ended, log.hands()[stream]) == (1, 1, 1)
    assert log.moments == 2


async def test_a_changed_event_does_not_follow_the_one_before(house: House, log: LogWatch, database: Database) -> None:
    stream = await evening(house)
    change(database, f"update store.event set command_id = gen_random_uuid() where stream_id = '{stream}' and seq = 5")
    await log.look()
    assert f"{stream}: event 5 does not follow event 4" in log.broken


async def test_a_unit_from_nowhere_is_found(house: House, log: LogWatch, database: Database) -> None:
    await evening(house)
    change(
        database,
        "update store.event set body = convert_to(replace(convert_from(body, 'UTF8'), '200000', '200001'), 'UTF8')"
        " where stream_id = 'account-anna-RUB' and type = 'deposited'",
    )
    await log.look()
    assert any("came from outside" in each for each in log.broken) or any("made" in each for each in log.broken)


async def test_a_log_that_is_shorter_than_it_was_is_found(house: House, log: LogWatch, database: Database) -> None:
    stream = await evening(house)
    await log.look()
    part = house.store.part_of(stream)
    change(database, f"update store.part_head set last_pos = last_pos - 1 where part = {part}")
    await log.look()
    assert [each for each in log.broken if each.startswith(f"part {part} ends at")]


async def test_a_table_that_stands_still_is_found(house: House, log: LogWatch) -> None:
    stream = await evening(house)
    await log.look()
    assert log.stalled(60.0) == []
    assert log.stalled(0.0) == [stream]


async def test_an_answer_that_is_another_one_later_is_found(database: Database, redis_url: str, tmp_path: Path) -> None:
    async with running_node(database, redis_url, tmp_path, parts=("api",)) as node:
        token = node.token("clara", "cashier")
        with Kept(tmp_path / "kept") as kept:
            body = b'{"player":"anna","currency":"RUB"}'
            answer = await node.as_("clara", "cashier").post("/v1/accounts", {"player": "anna", "currency": "RUB"}, "k")
            kept.add(Acknowledged("/v1/accounts", body, "k", token, answer.json()))
            asker = Asker([node.url], kept, 30.0, random.Random(1))
            await asker.all(2)
            assert (asker.asked, asker.broken) == (1, [])
            kept.add(Acknowledged("/v1/accounts", body, "k", token, {"version": 2, "balance": 0}))
            kept.add(Acknowledged("/v1/accounts/nobody/RUB/deposits", b'{"amount":1}', "l", token, {}))
            await asker.all(2)
    changed, refused = sorted(asker.broken, key=lambda each: "is refused" in each)
    assert changed.endswith("and asked again {'version': 1, 'balance': 0}")
    assert refused.startswith("/v1/accounts/nobody/RUB/deposits l was acknowledged, and asked again is refused")


def event(number: int, kind: str = "card_played") -> Message:
    return Message("event", {"seq": number, "type": kind}, number)


def snapshot(number: int) -> Message:
    return Message("snapshot", {}, number)


@pytest.mark.parametrize(
    ("messages", "wrong"),
    [
        ([snapshot(3), event(4), event(5)], None),
        ([snapshot(3), event(4), event(6)], "after event 4 came 6"),
        ([snapshot(3), event(4), event(4)], "after event 4 came 4"),
        ([snapshot(3), event(4), snapshot(9)], "after event 4 a snapshot of 9"),
        ([snapshot(3), event(4), snapshot(5 + REPLAY)], None),
        ([event(4)], "before any snapshot"),
        ([snapshot(3), Message("card", {}, None)], "no stream of a table has"),
    ],
)
def test_a_stream_with_a_hole_or_a_double_is_found(messages: list[Message], wrong: str | None) -> None:
    watcher = Watcher(["http://127.0.0.1:1"], None, "t", random.Random(1))
    for each in messages:
        watcher.take(each)
    assert [wrong] * (wrong is not None) == [wrong for each in watcher.broken if wrong and wrong in each]
    assert len(watcher.broken) == (wrong is not None)


def test_only_where_a_table_is_delayed_a_snapshot_may_set_its_spectator_back() -> None:
    """K2: who has left, or comes to a node whose clock is behind, has seen more than he may see now."""
    for delayed in (True, False):
        watcher = Watcher(["http://127.0.0.1:1"], None, "t", random.Random(1), delayed=delayed)
        for each in (snapshot(3), event(4), snapshot(2), event(3)):
            watcher.take(each)
        assert (watcher.broken == [], watcher.last == 3) == (delayed, delayed)


async def test_a_client_that_was_not_sent_all_is_found(house: House, log: LogWatch) -> None:
    stream = await evening(house)
    await log.look()
    types = [e.type for e in await house.store.read_stream(stream)]

    def watched(seen: list[str]) -> list[str]:
        watcher = Watcher(["http://127.0.0.1:1"], None, stream.removeprefix("table-"), random.Random(1))
        watcher.take(snapshot(2))
        for number, kind in enumerate(seen, 3):
            watcher.take(event(number, kind))
        return watched_all([watcher], log)

    assert watched(types[2:]) == []
    assert watched(types[2:-1]) != []
    assert watched([*types[2:-1], "card_played"]) != []


async def test_what_was_acknowledged_and_is_not_there_or_twice_is_found(
    house: House, log: LogWatch, tmp_path: Path
) -> None:
    stream = await evening(house)
    await log.look()
    stored = await house.store.read_stream(stream)
    path = f"/v1/tables/{stream.removeprefix('table-')}/actions"

    def found(*answers: list[dict[str, Any]]) -> list[str]:
        with Kept(tmp_path / "kept") as kept:
            for answer in answers:
                kept.add(Acknowledged(path, b"{}", "k", "t", {"events": answer}))
            return acknowledged_once(kept, log)

    there = [{"seq": e.seq, "type": e.type} for e in stored]
    assert found(there[:4], there[4:]) == []
    assert found(there[:4], there[3:5]) == [f"event 4 of table {path.split('/')[3]} answers two commands"]
    assert len(found([{"seq": len(there) + 1, "type": "card_played"}])) == 1
    assert len(found([{"seq": 1, "type": "card_played"}])) == 1


def test_errors_and_what_is_no_line_of_the_log_are_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [
        '{"level":"info","event":"a"}',
        '{"level":"warning","event":"b"}',
        '{"level":"error","event":"c"}',
        "Trace",
    ]
    log.write_text("\n".join(lines) + "\n")
    assert told_of_errors(log) == lines[2:]
