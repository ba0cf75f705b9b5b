"""The way back after an older backup of the log was restored. Source: DESIGN "Streams and events", rulebook T12, S2.

What came after the backup is gone from the log, and not from the world: players have seen cards, and seeds may be
known. So no hand goes on, no commitment stands, and nothing that was worked out of the lost events is kept. The first
thing that the log then says is that it was restored, signed, and by whom.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from hashlib import sha256

import structlog
from msgspec import Struct

from domain.commands import CommitAnew, Fresh, HaltTable, ResumeTable, TableCommand, Void
from domain.events import Event, LogRestored, LogRestoreFinished, TableHalted
from domain.table import Table, running
from infra.faults import Fault
from infra.leases import Leases
from infra.meta import command_id, decode_meta
from infra.presence import others
from infra.projection_store import Generations
from infra.store import GENESIS, Appended
from infra.store.chain import lp
from infra.witness import Witness, ahead
from services.core import LOG, Core, restoring_name, unfinished
from services.play.tables import UNREADABLE
from services.play.types import Answer, Caller, Outcome, Request
from services.play.writing import Draft

PREFIX = b"khrap-restored/1\x00"
TABLES = "table-"
DIGEST = "restored"
"""In the place of a request's digest, in what is done to tables here; no HMAC in hex reads so."""
MEANT = "restored, halted before"
"""The same where the table was halted by somebody who meant it, and stays so."""
DAMAGED = UNREADABLE - {"event_unknown"}
"""What no program makes good; an event of a newer one that program reads, and its hands would go on."""
GONE_S = 6.0
"""Twice as long as a lease: so long at most a process that was killed seems to be there."""
LOOK_S = 0.2

log = structlog.get_logger(__name__)


class Restored(Struct, frozen=True):
    """What was done: hands voided, commitments made anew (each void makes one too), projections to be built anew.

    `unreadable` are tables whose events are damaged: no program reads them, so no hand goes on there either.
    """

    events: int
    lost: int
    voided: int
    committed: int
    projections: tuple[str, ...]
    unreadable: tuple[str, ...] = ()


async def set_going(core: Core, ops: tuple[str, str], reason: str, *, unnoticed: bool = False) -> Restored:
    """Bring a restored log to where play may go on. Where it was begun and not finished, it goes on where it was.

    The log says first that it was restored, and last that all is done: between the two `open_core` refuses, since hands
    whose cards were seen still run.

    Raises Fault: `not_restored` where nobody is ahead of the log and it is not said that this is known (`unnoticed`),
    `still_running` while any other process of the service is there, `event_unknown` where a newer program wrote to it.
    """
    await alone(core)
    begun = await _begun(core)
    found = await ahead(core.store, core.addresses.application, core.addresses.redis)
    if begun is None:
        if not found and not unnoticed:
            raise Fault("not_restored", "nobody knows of events that the log does not have; --unnoticed does it anyway")
        lost = max((each.lost for each in found), default=0)
        told = await tell(core, ops, reason, await core.store.part_heads(), lost)
        # From here on no process starts; one that began before is there now.
        await alone(core)
        forgotten = await _forget(core, {each.who for each in found})
    else:
        told = begun
        # Who had passed what is lost cannot be told any more: what was written since may have made up for it.
        forgotten = await _forget(core, None)
    voided = committed = 0
    unreadable = []
    for stream in await core.store.streams_not_ended(TABLES, "table_closed"):
        table_id = stream.removeprefix(TABLES)
        try:
            voided += await _table(core, table_id, ops, reason)
        except Fault as fault:
            if fault.code not in DAMAGED:
                raise
            # One table's damage is not to keep all others shut.
            log.error("table_unreadable", stream=stream, code=fault.code, detail=fault.detail)
            unreadable.append(table_id)
            continue
        committed += 1
    if not await Witness(core.addresses.redis, await core.store.log_id()).note(await core.store.part_heads()):
        said = "Redis is away: where it comes back and knows of lost events nothing starts, and this is to be run again"
        log.warning("witness_away", detail=said)
    await write(core, ops[0], LogRestoreFinished(ops=ops, voided=voided, committed=committed))
    return Restored(told.events, told.lost, voided, committed, tuple(forgotten), tuple(unreadable))


async def alone(core: Core) -> None:
    """That no other process of the service is there; one that has just ended may seem so for `GONE_S`.

    Raises Fault(`still_running`).
    """
    leases = Leases(core.addresses.application)
    loop = asyncio.get_running_loop()
    last = loop.time() + GONE_S
    try:
        while True:
            there = await others(core.addresses.application, restoring_name())
            there += [f"who holds {name}" for name in sorted({e.partition(":")[0] for e in await leases.alive()})]
            if not there:
                return
            if loop.time() > last:
                raise Fault("still_running", f"stop all processes first; there are still: {', '.join(there)}")
            await asyncio.sleep(LOOK_S)
    finally:
        await leases.close()


async def _begun(core: Core) -> LogRestored | None:
    """The restore that was begun and not finished."""
    stored = await unfinished(core.store, LogRestored, LogRestoreFinished)
    if stored is None:
        return None
    event = core.codec.decode(stored)
    assert isinstance(event, LogRestored)
    return event


async def _forget(core: Core, ahead_of: set[str] | None) -> list[str]:
    """Drop the generations that have passed what is lost, or all. Projectors build them anew and let them serve.

    Where the one that serves goes, those beside it go too: a projector makes none anew where there is one, and lets
    none serve that was in building or had served before.
    """
    async with Generations.open(core.addresses.application) as generations:
        there = await generations.all()
        ahead_too = {each.schema for each in there if ahead_of is None or each.schema in ahead_of}
        unserved = {each.name for each in there if each.serving and each.schema in ahead_too}
        gone = [each.schema for each in there if each.schema in ahead_too or each.name in unserved]
        for schema in gone:
            await generations.forget(schema)
        return gone


def signed_text(ops: tuple[str, str], reason: str, events: int, vector: str, lost: int) -> bytes:
    """What the signature of a `LogRestored` is over."""
    parts = (*ops, reason, str(events), vector, str(lost))
    return PREFIX + b"".join(lp(part.encode()) for part in parts)


def vector_digest(heads: Mapping[int, int]) -> str:
    """The SHA-256 (hex) over `part:position` of all parts with events, in order, a line each."""
    return sha256("".join(f"{part}:{pos}\n" for part, pos in sorted(heads.items()) if pos).encode()).hexdigest()


async def tell(core: Core, ops: tuple[str, str], reason: str, heads: Mapping[int, int], lost: int) -> LogRestored:
    """Write that the log was restored: the first thing that follows what was restored. Raises Fault."""
    events, vector = sum(heads.values()), vector_digest(heads)
    key = core.keys.audit_signing
    event = LogRestored(
        ops=ops,
        reason=reason,
        events=events,
        vector=vector,
        lost=lost,
        key=key.public_key().public_bytes_raw().hex(),
        signature=key.sign(signed_text(ops, reason, events, vector, lost)).hex(),
    )
    await write(core, ops[0], event)
    log.warning("log_restored", ops=ops, events=events, lost=lost)
    return event


async def write(core: Core, person: str, event: Event) -> None:
    """Append to the `log` stream. Raises Fault, `still_running` where another process does too."""
    head = await core.store.head(LOG)
    request = Request(Caller(person, "ops"), core.entropy.random_bytes(16).hex(), "")
    draft = Draft(command_id(person, LOG, request.key), request, core.codec)
    draft.add(draft.stream(LOG, head.seq if head else 0, head.hash if head else GENESIS), (event,), core.clock.now_ms())
    verdict = await core.store.append(draft.done())
    if not isinstance(verdict, Appended):
        raise Fault("still_running", "another process writes to the log; stop all processes first")


async def _table(core: Core, table_id: str, ops: tuple[str, str], reason: str) -> bool:
    """Void the hand that runs at a table, or make its commitment anew; whether one was voided."""
    found = await core.play.table(table_id)
    assert found is not None, table_id
    table = found[1]
    halted = table.halt is not None and not await halted_here(core, table_id, DIGEST)
    if running(table) is None:
        await _do(core, table_id, ops[0], lambda at_ms, fresh: CommitAnew(at_ms=at_ms, fresh=fresh))
        if table.halt is not None and not halted:
            await _do(core, table_id, ops[0], lambda at_ms, _: ResumeTable(at_ms=at_ms, reason=reason))
        return False
    if table.halt is None or not table.halt.fault:
        # T12: a restored log is a fault alarm, which lets a hand be voided after a card was led.
        digest = MEANT if halted else DIGEST
        await _do(core, table_id, ops[0], lambda at_ms, _: HaltTable(at_ms=at_ms, reason=reason, fault=True), digest)
    for each in voiders(table, ops):
        await _do(core, table_id, each, void_by(each, reason))
    if not halted:
        await _do(core, table_id, ops[0], lambda at_ms, _: ResumeTable(at_ms=at_ms, reason=reason))
    return True


async def halted_here(core: Core, table_id: str, digest: str) -> bool:
    """Whether it was a command with this digest, ended before its end, that halted the table, and not somebody who
    meant it."""
    stream = TABLES + table_id
    seq = await core.store.last_of(stream, (str(TableHalted.__struct_config__.tag),), at_most=2**62)
    assert seq is not None, table_id
    (event,) = await core.store.read_stream(stream, after=seq - 1, limit=1)
    return decode_meta(event.meta).request == digest


def voiders(table: Table, ops: tuple[str, str]) -> tuple[str, ...]:
    """Who proposes and who confirms; where one of them had proposed before, or a third had, one word is enough."""
    proposal = table.proposal
    if proposal is None or table.hand is None or proposal.hand_id != table.hand.hand_id:
        return ops
    return (next(each for each in ops if each != proposal.proposer),)


def void_by(person: str, reason: str) -> Callable[[int, Fresh], TableCommand]:
    """T12: one word of the two."""
    return lambda at_ms, fresh: Void(at_ms=at_ms, ops=person, reason=reason, fresh=fresh)


async def _do(
    core: Core, table_id: str, person: str, make: Callable[[int, Fresh], TableCommand], digest: str = DIGEST
) -> None:
    request = Request(Caller(person, "ops"), core.entropy.random_bytes(16).hex(), digest)
    outcome: Outcome = await core.play.command(table_id, request, make)
    if not isinstance(outcome, Answer):
        raise Fault("still_running", f"table {table_id}: {outcome}")
