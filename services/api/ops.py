"""Routes of those who keep the service running: how it stands, and a table as they may see it. No cards, no purses."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, get
from msgspec import Struct

from domain.table import Table, running
from projections.ledger import KindTotal
from services.api.forms import TableId
from services.api.house import house
from services.api.operation import Operation, described
from services.api.problems import Rejection
from services.api.roles import OPS
from services.watch import Alarm, Situation

Incoming = Request[Any, Any, Any]
MOST = 100
"""So many parked streams are listed; `parked` of each projection counts them all."""


class ProjectionNow(Struct, frozen=True, kw_only=True):
    """A generation of a projection: `role` is serving, following, building or dropping.

    `position` of `head` events are passed, `rate` of them a second lately; `kept` says whether a process keeps it up
    now; `refused` why it may not serve, or, where it is not in building, cannot be kept up.
    """

    name: str
    generation: str
    version: int
    role: str
    kept: bool
    rate: int
    position: int
    head: int
    lag_events: int
    lag_ms: int
    parked: int
    refused: str | None


class ParkedNow(Struct, frozen=True, kw_only=True):
    """A stream that waits at its event `seq`, and why."""

    generation: str
    stream: str
    seq: int
    code: str
    reason: str
    since_ms: int


class HoleNow(Struct, frozen=True, kw_only=True):
    """A part of the log that is not read on: after `pos` a number is missing."""

    part: int
    pos: int
    reason: str
    since_ms: int


class HaltedNow(Struct, frozen=True, kw_only=True):
    """A halted table, and why."""

    table_id: str
    reason: str


class TablesNow(Struct, frozen=True, kw_only=True):
    """How many tables are open; of these how many play, and how many are halted."""

    open: int
    playing: int
    halted: int


class BooksNow(Struct, frozen=True, kw_only=True):
    """The trial balance of a currency: `off` is the sum of all accounts, which is zero; `kinds` what it is made of."""

    currency: str
    off: int
    kinds: tuple[KindTotal, ...]


class ProcessNow(Struct, frozen=True, kw_only=True):
    """The process that answers: commands that wait for a commit and in one, open event streams, its link to Redis."""

    waiting_commands: int
    committing_commands: int
    event_streams: int
    redis: bool


class OpsStatus(Struct, frozen=True, kw_only=True):
    """How the whole service stands, at most a second old.

    `log_events` counts all events ever: of two answers it gives the rate. `clock_drift_ms` is by how much our clock is
    ahead of Postgres's, `steward_beat_age_ms` how long ago a steward last ran (null: never). `books` and `tables` are
    null until a projection of them serves; the books are those of `books_at_ms`. An alarm that is a `notice` loses
    nothing.
    """

    at_ms: int
    alarms: tuple[Alarm, ...]
    log_events: int
    projections: tuple[ProjectionNow, ...]
    parked: tuple[ParkedNow, ...]
    holes: tuple[HoleNow, ...]
    tables: TablesNow | None
    halted: tuple[HaltedNow, ...]
    books: tuple[BooksNow, ...] | None
    books_at_ms: int
    clock_drift_ms: int
    steward_beat_age_ms: int | None
    process: ProcessNow


class Halting(Struct, frozen=True, kw_only=True):
    """Why a table is halted. `fault`: an alarm of the books, not a wish of ops (T12)."""

    reason: str
    fault: bool


class Voiding(Struct, frozen=True, kw_only=True):
    """T12: who proposed to void the running hand, and why; another of ops must confirm."""

    by: str
    reason: str


class CareNow(Struct, frozen=True, kw_only=True):
    """A table as those see it who look after it. `hand_id` is the running hand's, null between hands."""

    table_id: str
    version: int
    game: str
    currency: str
    stake: int
    seats: int
    hand_no: int
    hand_id: str | None
    halt: Halting | None
    voiding: Voiding | None
    closing: bool
    closed: bool


class OpsRoutes(Controller):
    """`/v1/ops`."""

    path = "/v1/ops"

    @get(
        "/status",
        opt=described(
            Operation(
                tag="ops",
                summary="How the whole service stands",
                description="Projections, streams that wait, holes, halted tables, the books, and what is wrong.",
                rule=OPS,
                answer=OpsStatus,
            )
        ),
    )
    async def status(self, request: Incoming) -> OpsStatus:
        """503 where the store is away."""
        rooms = house(request)
        situation = await rooms.watch.now()
        process = ProcessNow(
            waiting_commands=rooms.store.waiting,
            committing_commands=rooms.store.committing,
            event_streams=rooms.hub.streams.total,
            redis=situation.redis,
        )
        return _status(situation, process)

    @get(
        "/tables/{table_id:str}",
        opt=described(
            Operation(
                tag="ops",
                summary="A table as ops see it",
                description="Whether it is halted and why, and whether somebody proposed to void its hand. No cards.",
                rule=OPS,
                answer=CareNow,
                problems=("not_found",),
            )
        ),
    )
    async def table(self, request: Incoming, table_id: TableId) -> CareNow:
        """As the log has it now."""
        found = await house(request).play.table(table_id)
        if found is None:
            raise Rejection("not_found", f"there is no table {table_id}")
        return _care(table_id, *found)


def _status(situation: Situation, process: ProcessNow) -> OpsStatus:
    parked = [
        ParkedNow(generation=s.schema, stream=p.stream, seq=p.seq, code=p.code, reason=p.reason, since_ms=p.since_ms)
        for s, p in situation.parked[:MOST]
    ]
    tables, books = situation.tables, situation.books
    return OpsStatus(
        at_ms=situation.at_ms,
        alarms=situation.alarms(),
        log_events=situation.log_events,
        projections=tuple(
            ProjectionNow(
                name=s.name,
                generation=s.schema,
                version=s.version,
                role="serving" if s.serving else s.state,
                kept=s.kept,
                rate=s.rate,
                position=s.position,
                head=s.head,
                lag_events=s.lag_events,
                lag_ms=s.lag_ms(situation.at_ms),
                parked=len(s.parked),
                refused=s.refused,
            )
            for s in situation.standings
        ),
        parked=tuple(parked),
        holes=tuple(HoleNow(part=h.part, pos=h.pos, reason=h.reason, since_ms=h.since_ms) for h in situation.holes),
        tables=None if tables is None else TablesNow(open=tables.open, playing=tables.playing, halted=tables.halted),
        halted=tuple(HaltedNow(table_id=h.table_id, reason=h.reason) for h in situation.halted),
        books=None
        if books is None
        else tuple(
            BooksNow(currency=currency, off=off, kinds=tuple(k for k in books.totals if k.currency == currency))
            for currency, off in books.sums().items()
        ),
        books_at_ms=situation.books_at_ms,
        clock_drift_ms=situation.drift_ms,
        steward_beat_age_ms=situation.beat_age_ms,
        process=process,
    )


def _care(table_id: str, version: int, table: Table) -> CareNow:
    hand = running(table)
    proposal = table.proposal
    if proposal is not None and (hand is None or proposal.hand_id != hand.hand_id):
        proposal = None
    return CareNow(
        table_id=table_id,
        version=version,
        game=table.settings.game,
        currency=table.settings.currency,
        stake=table.settings.stake,
        seats=len(table.seats),
        hand_no=table.hand_no,
        hand_id=None if hand is None else hand.hand_id,
        halt=None if table.halt is None else Halting(reason=table.halt.reason, fault=table.halt.fault),
        voiding=None if proposal is None else Voiding(by=proposal.proposer, reason=proposal.reason),
        closing=table.closing,
        closed=table.closed,
    )
