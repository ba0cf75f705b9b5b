"""Warm tables: state, version, chain hash and the last steps of each table that this process has served."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence

from domain.commands import Fresh
from domain.events import OPENINGS
from domain.evolve import evolve, evolve_unopened
from domain.table import Table
from infra.codec import Codec
from infra.faults import Fault
from infra.meta import decode_meta
from infra.store import EventStore, StoredEvent
from services.play.types import Step

RING = 256
WARM_TABLES = 10_000
UNREADABLE = frozenset({"seal_broken", "event_unknown", "event_broken"})
"""Faults of one stream, which trying again does not mend: another key, a newer program's event, altered bytes."""
OPENING_TAGS = tuple(str(e.__struct_config__.tag) for e in OPENINGS)


class Warm:
    """One table as this process knows it."""

    def __init__(self, version: int, hash_: bytes, table: Table, ring: deque[Step]) -> None:
        self.version = version
        self.hash = hash_
        self.table = table
        self.ring = ring
        self.fresh: Fresh | None = None


class Tables:
    """A cache of tables; the longest unused go first. What is in it may be old: `current` and `refresh` look."""

    def __init__(self, store: EventStore, codec: Codec) -> None:
        self._store = store
        self._codec = codec
        self._warm: OrderedDict[str, Warm] = OrderedDict()
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    def lock(self, table_id: str) -> _Held:
        """One command a table at a time within this process."""
        return _Held(self._locks, table_id)

    async def warm(self, table_id: str) -> Warm | None:
        """The table as cached, loaded where it is not; None where there is no such table."""
        warm = self._warm.get(table_id)
        if warm is None:
            return await self._load(table_id)
        self._warm.move_to_end(table_id)
        return warm

    async def current(self, table_id: str) -> Warm | None:
        """The table, not older than the log."""
        if table_id in self._warm:
            await self.refresh(table_id)
        return await self.warm(table_id)

    async def refresh(self, table_id: str) -> None:
        """Bring the cached table up to the stream's head."""
        warm = self._warm.get(table_id)
        if warm is None:
            await self._load(table_id)
            return
        version, table = warm.version, warm.table
        newer = await self._store.newer(f"table-{table_id}", version)
        # Another task of this process may have brought it up meanwhile; what it has is skipped.
        steps = [s for s in self._fold(table, newer) if s.seq > warm.version]
        if steps:
            warm.fresh = None
            self.advance(table_id, steps, newer[-1].hash)

    def advance(self, table_id: str, steps: Sequence[Step], last_hash: bytes) -> None:
        """Take recorded steps into the cache, where they follow on what is there."""
        warm = self._warm.get(table_id)
        last = steps[-1]
        if warm is None:
            if steps[0].seq == 1:
                self._keep(table_id, Warm(last.seq, last_hash, last.after, deque(steps, RING)))
            return
        if steps[0].seq != warm.version + 1:
            return
        warm.version, warm.hash, warm.table = last.seq, last_hash, last.after
        warm.ring.extend(steps)

    async def steps(self, table_id: str, after: int, limit: int) -> list[Step]:
        """Recorded events after number `after`, from the ring where it reaches so far back, else from the log.

        S7: where the key of the first is lost, from the first full state on that opens. Raises Fault where none does.
        """
        warm = self._warm.get(table_id)
        if warm is not None and warm.ring and warm.ring[0].seq <= after + 1 <= warm.version:
            return [s for s in warm.ring if s.seq > after][:limit]
        stream = f"table-{table_id}"
        opening = await self._store.last_of(stream, OPENING_TAGS, at_most=after + 1)
        if opening is None:
            return []
        stored = await self._store.read_stream(stream, after=opening - 1, limit=after + 1 - opening + limit)
        begins = [n for n, record in enumerate(stored) if record.type in OPENING_TAGS]
        while True:
            try:
                return [s for s in self._fold(None, stored[begins.pop(0) :]) if s.seq > after]
            except Fault as fault:
                if fault.code != "seal_broken" or not begins:
                    raise

    async def _load(self, table_id: str) -> Warm | None:
        stored = await self._store.read_since_last(f"table-{table_id}", OPENING_TAGS)
        if not stored:
            return None
        try:
            steps = self._fold(None, stored)
        except Fault as fault:
            table = self._closed(stored) if fault.code == "seal_broken" else None
            if table is None:
                raise
            warm = Warm(stored[-1].seq, stored[-1].hash, table, deque(maxlen=RING))
        else:
            warm = Warm(steps[-1].seq, stored[-1].hash, steps[-1].after, deque(steps, RING))
        existing = self._warm.get(table_id)
        if existing is not None and existing.version >= warm.version:
            return existing
        self._keep(table_id, warm)
        return warm

    def _keep(self, table_id: str, warm: Warm) -> None:
        self._warm[table_id] = warm
        while len(self._warm) > WARM_TABLES:
            self._warm.popitem(last=False)

    def _fold(self, table: Table | None, stored: Sequence[StoredEvent]) -> list[Step]:
        """The steps of stored events. Raises Fault, one of `UNREADABLE`."""
        steps = []
        for record in stored:
            event = self._codec.decode(record)
            at_ms = decode_meta(record.meta).at_ms
            table = evolve(table, event, at_ms)
            steps.append(Step(record.seq, at_ms, event, table))
        return steps

    def _closed(self, stored: Sequence[StoredEvent]) -> Table | None:
        """S7: a closed table, which holds no secret any more, by the public halves alone; None where it goes on."""
        table: Table | None = None
        for record in stored:
            table = evolve_unopened(table, self._codec.decode_public(record), decode_meta(record.meta).at_ms)
        return table if table is not None and table.closed else None


class _Held:
    """A table's lock, counted so that it is forgotten when nobody wants it."""

    def __init__(self, locks: dict[str, tuple[asyncio.Lock, int]], table_id: str) -> None:
        self._locks = locks
        self._table_id = table_id

    async def __aenter__(self) -> None:
        lock, users = self._locks.get(self._table_id, (asyncio.Lock(), 0))
        self._locks[self._table_id] = (lock, users + 1)
        try:
            await lock.acquire()
        except BaseException:
            self._release_name()
            raise

    async def __aexit__(self, *exc: object) -> None:
        self._locks[self._table_id][0].release()
        self._release_name()

    def _release_name(self) -> None:
        lock, users = self._locks[self._table_id]
        if users == 1:
            del self._locks[self._table_id]
        else:
            self._locks[self._table_id] = (lock, users - 1)
