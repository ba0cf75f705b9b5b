"""A page of the log that Postgres cannot read is told in a word, by whoever reads it; it ended in a traceback."""

from __future__ import annotations

import psycopg
import pytest

from infra.faults import Fault
from infra.store import EventStore
from infra.store.bulk import BulkReader
from tests.conftest import Database
from tests.infra.store.streams import new_stream, write

BROKEN = "invalid page in block 0 of relation"


@pytest.mark.parametrize("processes", [1, 2])
async def test_a_damaged_page_is_told_in_a_word(database: Database, store: EventStore, processes: int) -> None:
    head = await write(store, new_stream(), 3)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(
            f"""
            create function store.damaged() returns boolean language plpgsql as $$
            begin raise '{BROKEN}' using errcode = 'XX001'; end $$;
            alter table store.event enable row level security;
            alter table store.event force row level security;
            create policy damaged on store.event for select using (store.damaged());
            """.encode()
        )
    part = store.part_of(head.stream)
    bulk = await BulkReader.connect(database.app_url)
    try:
        for reading in (
            store.read_stream(head.stream),
            store.read_parts({part: 0}, 10),
            bulk.read([(part, 0, 3)]),
            store.verify(processes=processes),
        ):
            with pytest.raises(Fault, match=BROKEN) as raised:
                await reading
            assert raised.value.code == "store_damaged"
    finally:
        bulk.close()
