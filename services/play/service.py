"""Commands to tables: decide on the warm state, append, evolve, answer. Source: DESIGN "A command's way".

Several processes may serve the same table: the store's verdict, not a lock, keeps them right. The lock here only
spares this process conflicts with itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from uuid import UUID

from structlog.contextvars import bind_contextvars, unbind_contextvars

from domain.commands import Fresh, OpenTable, TableCommand
from domain.course import Course
from domain.decide import course
from domain.events import HandCommitted, Settings
from domain.refusal import Refused
from domain.table import Table
from domain.views import legal_actions
from infra.clock import Clock
from infra.codec import Codec
from infra.entropy import Entropy
from infra.faults import Fault
from infra.meta import command_id, request_digest
from infra.metrics import REFUSALS
from infra.sealing import Sealer
from infra.store import Appended, Conflict, Duplicate, EventStore, StoredEvent
from infra.telemetry import logger
from infra.tracing import span
from services.play.accounts import Accounts
from services.play.answers import answer
from services.play.books import difference
from services.play.tables import Tables, Warm
from services.play.types import (
    KeyReused,
    NotFound,
    Outcome,
    Refusal,
    Request,
    Step,
)
from services.play.writing import Draft, same_request

ATTEMPTS = 3
log = logger("play")
OnSteps = Callable[[str, Sequence[Step]], None]


def table_stream(table_id: str) -> str:
    """The stream of a table."""
    return f"table-{table_id}"


class Play:
    """All that may be asked of tables. One for each process and store."""

    def __init__(self, store: EventStore, codec: Codec, sealer: Sealer, clock: Clock, entropy: Entropy) -> None:
        self._store = store
        self._codec = codec
        self._sealer = sealer
        self._clock = clock
        self._entropy = entropy
        self._tables = Tables(store, codec)
        self._listeners: list[OnSteps] = []
        self.accounts = Accounts(store, codec, clock)

    def on_steps(self, listener: OnSteps) -> None:
        """Have `listener` told of each append of this process: the table's id and the steps, in order."""
        self._listeners.append(listener)

    def digest(self, table_id: str, key: str) -> str:
        """Of a request that the service makes of itself, under a key: all else that is hashed with it may be public or
        easily tried, and the hashes of events are anybody's to read, so a purse or a balance could be found by trying.
        """
        return request_digest(self._sealer.request_key, "", table_id, key.encode())

    async def table(self, table_id: str) -> tuple[int, Table] | None:
        """The table's version and state, not older than the log at the moment of the call; None if there is none."""
        warm = await self._tables.current(table_id)
        return None if warm is None else (warm.version, warm.table)

    async def books_differ(self, table_id: str) -> bool:
        """R5: whether the ledger reckons otherwise than is recorded. Reads the whole table. Raises Fault."""
        return await difference(self._store, self._codec, table_stream(table_id)) is not None

    async def steps(self, table_id: str, after: int, limit: int = 1_000) -> list[Step]:
        """The recorded events after number `after`, each with the table after it, at most `limit`, in order.

        S7: where the key of the first is lost, from the first full state on that opens. Raises Fault where none does.
        """
        return await self._tables.steps(table_id, after, limit)

    async def open_table(self, request: Request, settings: Settings) -> tuple[str, Outcome]:
        """T1: a new table. Its id comes from the command's, so that a repeat finds the first one's table."""
        table_id = _table_id(command_id(request.caller.subject, "tables", request.key))

        def make(at_ms: int, fresh: Fresh) -> TableCommand:
            return OpenTable(at_ms=at_ms, settings=settings, fresh=fresh)

        return table_id, await self.command(table_id, request, make, opens=True)

    async def command(
        self,
        table_id: str,
        request: Request,
        make: Callable[[int, Fresh], TableCommand],
        *,
        opens: bool = False,
    ) -> Outcome:
        """Decide and append; at most three times where others were faster. Raises Fault (`conflict`, the store's)."""
        name = command_id(request.caller.subject, table_stream(table_id), request.key)
        # Whatever is logged of this command names it, also by who catches what it raises.
        bind_contextvars(table=table_id, command=name.hex())
        outcome = await self._command(table_id, request, name, make, opens)
        unbind_contextvars("table", "command", "hand")
        return outcome

    async def _command(
        self,
        table_id: str,
        request: Request,
        name: bytes,
        make: Callable[[int, Fresh], TableCommand],
        opens: bool,
    ) -> Outcome:
        async with self._tables.lock(table_id):
            for _ in range(ATTEMPTS):
                warm = await self._tables.warm(table_id)
                if (warm is None) != opens:
                    return await self._repeated(table_id, name, request) or NotFound(f"table {table_id}")
                outcome = await self._attempt(table_id, warm, request, name, make)
                if outcome is not None:
                    return outcome
        raise Fault("conflict", f"table {table_id} changed {ATTEMPTS} times in a row while this was decided; try again")

    async def _attempt(
        self,
        table_id: str,
        warm: Warm | None,
        request: Request,
        name: bytes,
        make: Callable[[int, Fresh], TableCommand],
    ) -> Outcome | None:
        """One try; None where the state it was decided on was not the newest."""
        # Taken now: while this waits for the store, a reader may bring the cached table up, even to what is appended.
        table, version = (None, 0) if warm is None else (warm.table, warm.version)
        if table is not None and table.hand is not None:
            bind_contextvars(hand=table.hand.hand_id)
        at_ms = self._clock.now_ms() if table is None else max(self._clock.now_ms(), table.at_ms)
        with span("decide", command=name.hex(), table=table_id) as opened:
            command = make(at_ms, self._fresh(warm, at_ms))
            assert command.at_ms >= at_ms, "a table's times never go back"
            at_ms = command.at_ms
            decided = course(table, command)
            opened.set(outcome=decided.code if isinstance(decided, Refused) else "decided")
        if isinstance(decided, Refused):
            assert warm is not None
            return await self._refused(table_id, warm, version, request, name, decided)
        events = decided.events
        draft = Draft(name, request, self._codec)
        stream = draft.stream(table_stream(table_id), version, warm.hash if warm else bytes(32))
        draft.add(stream, events, at_ms)
        refused = await self.accounts.move(draft, table, events, table_id, at_ms)
        if refused is not None:
            assert warm is not None
            return await self._refused(table_id, warm, version, request, name, refused)
        steps = _steps(version, decided, at_ms)
        verdict = await self._store.append(
            draft.done(), lambda stored: self._take_in(table_id, warm, steps, stored.heads[0].hash)
        )
        match verdict:
            case Appended():
                log.debug(
                    "command_done", role=request.caller.role, version=steps[-1].seq, did=events[0].__struct_config__.tag
                )
                return answer(steps, request.caller.subject)
            case Duplicate(stored):
                return await self._repeat(table_id, stored, request)
            case Conflict():
                await self._tables.refresh(table_id)
                return None

    def _fresh(self, warm: Warm | None, at_ms: int) -> Fresh:
        """S1: the next hand's id and seed; kept until a command commits to it, since nobody has seen it."""
        if warm is not None and warm.fresh is not None:
            return warm.fresh
        fresh = fresh_hand(self._entropy, self._sealer, at_ms)
        if warm is not None:
            warm.fresh = fresh
        return fresh

    def _take_in(self, table_id: str, warm: Warm | None, steps: Sequence[Step], last_hash: bytes) -> None:
        """What was stored: into the cache, and to who listens."""
        self._tables.advance(table_id, steps, last_hash)
        if warm is not None and any(isinstance(s.event, HandCommitted) for s in steps):
            warm.fresh = None
        for listener in self._listeners:
            listener(table_id, steps)

    async def _refused(
        self, table_id: str, warm: Warm, version: int, request: Request, name: bytes, refused: Refused
    ) -> Outcome | None:
        """The first answer where the command was done before; None where `version`, decided on, was not the newest.

        The head is looked at first and the command after it: what was done before the look is found by the second.
        """
        await self._tables.refresh(table_id)
        before = await self._repeated(table_id, name, request)
        if before is not None:
            return before
        # Not what `refresh` did counts, but where the table is: another task may have brought it up.
        if warm.version != version:
            return None
        player = request.caller.subject
        REFUSALS.labels(refused.code).inc()
        log.debug("command_refused", role=request.caller.role, version=version, code=refused.code)
        return Refusal(refused, warm.version, warm.table.turn, legal_actions(warm.table, player))

    async def _repeated(self, table_id: str, name: bytes, request: Request) -> Outcome | None:
        stored = await self._store.find_command(name, (table_stream(table_id),))
        return await self._repeat(table_id, stored, request) if stored else None

    async def _repeat(self, table_id: str, stored: Sequence[StoredEvent], request: Request) -> Outcome:
        """What was answered the first time, built from the stored range."""
        if not same_request(stored[0], request):
            return KeyReused(request.key)
        mine = [e.seq for e in stored if e.stream == table_stream(table_id)]
        steps = await self._tables.steps(table_id, min(mine) - 1, len(mine))
        return answer(steps, request.caller.subject)


def fresh_hand(entropy: Entropy, sealer: Sealer, at_ms: int) -> Fresh:
    """S1: a hand's id and seed, drawn now."""
    hand_id = entropy.uuid7(at_ms)
    return Fresh(
        hand_id=hand_id,
        server_seed=entropy.random_bytes(32).hex(),
        key_commitment=sealer.key_commitment(hand_id).hex(),
    )


def _steps(version: int, taken: Course, at_ms: int) -> list[Step]:
    """The events as recorded after number `version`, each with the table after it."""
    recorded = zip(taken.events, taken.tables, strict=True)
    return [Step(seq, at_ms, event, after) for seq, (event, after) in enumerate(recorded, version + 1)]


def _table_id(name: bytes) -> str:
    """A UUIDv7 in form; its time bits are a digest's, since a repeat must find the same id."""
    digest = bytearray(hashlib.sha256(b"khrap-table/1\x00" + name).digest()[:16])
    digest[6] = 0x70 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F
    return str(UUID(bytes=bytes(digest)))
