"""Queries stay quick however long a stream is, also before Postgres has any statistics of it."""

import json

from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend
from infra.store.connect import connect
from infra.store.queries import query
from tests.conftest import Database

STREAM = "table-long"


async def test_the_last_event_of_a_type_is_found_from_the_end_of_a_long_stream(database: Database) -> None:
    """Regression: without statistics all events of the stream were collected and sorted."""
    async with await EventStore.open(database.app_url) as store:
        seq, previous = 0, GENESIS
        for command in range(30):
            events = tuple(NewEvent("card_played", 1, b"{}" * 100, b"{}") for _ in range(1_999))
            append = StreamAppend(STREAM, seq, previous, (NewEvent("hand_started", 1, b"{}", b"{}"), *events))
            verdict = await store.append(Append(command.to_bytes(16), (append,)))
            assert isinstance(verdict, Appended)
            seq, previous = verdict.heads[0].seq, verdict.heads[0].hash
        assert len(await store.read_since_last(STREAM, ("hand_started",))) == 2_000
        part = store.part_of(STREAM)
    connection = await connect(database.app_url)
    async with connection:
        cursor = await connection.execute(
            b"explain (analyze, buffers, format json) " + query("read_since_last"),
            {"part": part, "stream": STREAM, "types": ["hand_started"]},
        )
        row = await cursor.fetchone()
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert '"Bitmap' not in json.dumps(plan)
    assert '"Node Type": "Sort"' not in json.dumps(plan)
    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 200
