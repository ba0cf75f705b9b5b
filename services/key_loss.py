"""The way out after the master key was lost: hands are voided, which needs no secret. Source: rulebook S7, T12.

A table is read by the public halves of its events, the hand that runs is voided, and another is committed to under the
key at hand. The state that is written with that commitment is where the table is read from afterwards, so that nothing
sealed under the lost key is ever needed again.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from msgspec import Struct

from domain.commands import CommitAnew, Fresh, HaltTable, ResumeTable, TableCommand
from domain.course import Course
from domain.decide import course
from domain.events import KeyLossFinished, KeyLost, LogRestored, LogRestoreFinished
from domain.evolve import evolve, evolve_unopened
from domain.table import Table, running
from infra.faults import Fault
from infra.meta import command_id, decode_meta
from infra.store import Appended
from infra.store.chain import lp
from infra.witness import ahead
from services.core import Core, check_key, unfinished
from services.play.service import fresh_hand
from services.play.tables import OPENING_TAGS
from services.play.types import Caller, Request
from services.play.writing import Draft
from services.restoring import DAMAGED, TABLES, alone, halted_here, tell, vector_digest, void_by, voiders, write

PREFIX = b"khrap-key-lost/1\x00"
DIGEST = "key-lost"
"""In the place of a request's digest, in what is done to tables here; no HMAC in hex reads so."""
MEANT = "key-lost, halted before"
"""The same where the table was halted by somebody who meant it, and stays so."""

log = structlog.get_logger(__name__)


class KeyLossDone(Struct, frozen=True):
    """What was done: hands voided, commitments made anew (each void makes one too).

    `unreadable` are tables whose events are damaged. `restored`: an older backup came back too, and `khrap db restored`
    is to follow.
    """

    voided: int
    committed: int
    unreadable: tuple[str, ...]
    restored: bool


async def give_up_key(core: Core, ops: tuple[str, str], reason: str) -> KeyLossDone:
    """Bring a log whose key is lost to where play may go on. Where it was begun and not finished, it goes on.

    The log says first that the key is lost, and last that all is done: between the two `open_core` refuses.

    Raises Fault: `key_not_lost` where the key at hand opens a table, or none is open, `still_running` while any other
    process of the service is there, `event_unknown` where a newer program wrote to the log.
    """
    await alone(core)
    if await unfinished(core.store, KeyLost, KeyLossFinished) is None:
        await _check_lost(core)
        await _note_restore(core, ops, reason)
        await _tell(core, ops, reason)
        # From here on no process starts; one that began before is there now.
        await alone(core)
    voided = committed = 0
    unreadable = []
    for stream in await core.store.streams_not_ended(TABLES, "table_closed"):
        try:
            at = await _read(core, stream)
            was_shut, in_hand = not (at.table.closed or at.opens), running(at.table) is not None
            await _set_going(core, at, ops, reason)
            voided += was_shut and in_hand
            committed += was_shut
        except Fault as fault:
            if fault.code not in DAMAGED:
                raise
            # One table's damage is not to keep all others shut.
            log.error("table_unreadable", stream=stream, code=fault.code, detail=fault.detail)
            unreadable.append(stream.removeprefix(TABLES))
    await write(core, ops[0], KeyLossFinished(ops=ops, voided=voided, committed=committed))
    restored = await unfinished(core.store, LogRestored, LogRestoreFinished) is not None
    return KeyLossDone(voided, committed, tuple(unreadable), restored)


async def _check_lost(core: Core) -> None:
    """Raises Fault(`key_not_lost`). All tables are tried: damage of some is no lost key, and voiding is for good."""
    try:
        await check_key(core.store, core.codec, tried=-1)
    except Fault as fault:
        if fault.code != "wrong_key":
            raise
        return
    detail = "the key at hand opens this log, or no table of it is open; nothing is to be done, the service starts"
    raise Fault("key_not_lost", detail)


async def _note_restore(core: Core, ops: tuple[str, str], reason: str) -> None:
    """Where an older backup came back, say so first: what is written here would make up for what is lost."""
    found = await ahead(core.store, core.addresses.application, core.addresses.redis)
    if found and await unfinished(core.store, LogRestored, LogRestoreFinished) is None:
        await tell(core, ops, reason, await core.store.part_heads(), max(each.lost for each in found))


def signed_text(ops: tuple[str, str], reason: str, events: int, vector: str) -> bytes:
    """What the signature of a `KeyLost` is over."""
    return PREFIX + b"".join(lp(part.encode()) for part in (*ops, reason, str(events), vector))


async def _tell(core: Core, ops: tuple[str, str], reason: str) -> None:
    heads = await core.store.part_heads()
    events, vector = sum(heads.values()), vector_digest(heads)
    key = core.keys.audit_signing
    event = KeyLost(
        ops=ops,
        reason=reason,
        events=events,
        vector=vector,
        key=key.public_key().public_bytes_raw().hex(),
        signature=key.sign(signed_text(ops, reason, events, vector)).hex(),
    )
    await write(core, ops[0], event)
    log.warning("key_lost", ops=ops, events=events)


class _At:
    """A table as it stands: its stream's number and hash, and whether the key at hand `opens` all it was read from."""

    def __init__(self, stream: str, version: int, last_hash: bytes, table: Table, *, opens: bool) -> None:
        self.stream = stream
        self.version = version
        self.hash = last_hash
        self.table = table
        self.opens = opens


async def _read(core: Core, stream: str) -> _At:
    """The table, by public halves alone where not all of it opens. Raises Fault."""
    stored = await core.store.read_since_last(stream, OPENING_TAGS)
    try:
        events, opens = [core.codec.decode(each) for each in stored], True
    except Fault as fault:
        if fault.code != "seal_broken":
            raise
        events, opens = [core.codec.decode_public(each) for each in stored], False
    table: Table | None = None
    for event, each in zip(events, stored, strict=True):
        table = (evolve if opens else evolve_unopened)(table, event, decode_meta(each.meta).at_ms)
    assert table is not None, stream
    return _At(stream, stored[-1].seq, stored[-1].hash, table, opens=opens)


async def _set_going(core: Core, at: _At, ops: tuple[str, str], reason: str) -> None:
    """Void the hand that runs, or make the commitment anew; where that is done already the table is but resumed."""
    if at.table.closed:
        return
    halt = at.table.halt
    meant = halt is not None and not await halted_here(core, at.stream.removeprefix(TABLES), DIGEST)
    if not at.opens and running(at.table) is None:
        await _do(core, at, ops[0], lambda at_ms, fresh: CommitAnew(at_ms=at_ms, fresh=fresh))
    elif not at.opens:
        if halt is None or not halt.fault:
            # T12: a lost key is a fault alarm, which lets a hand be voided after a card was led.
            digest = MEANT if meant else DIGEST
            await _do(core, at, ops[0], lambda at_ms, _: HaltTable(at_ms=at_ms, reason=reason, fault=True), digest)
        for each in voiders(at.table, ops):
            await _do(core, at, each, void_by(each, reason))
    if at.table.halt is not None and not meant:
        await _do(core, at, ops[0], lambda at_ms, _: ResumeTable(at_ms=at_ms, reason=reason))


async def _do(
    core: Core, at: _At, person: str, make: Callable[[int, Fresh], TableCommand], digest: str = DIGEST
) -> None:
    """Decide, append, evolve, as `Play` does, whose tables are those that open. No account is touched by any of it."""
    at_ms = max(core.clock.now_ms(), at.table.at_ms)
    decided = course(at.table, make(at_ms, fresh_hand(core.entropy, core.sealer, at_ms)))
    if not isinstance(decided, Course):
        raise Fault("table_refused", f"{at.stream}: {decided.detail}")
    request = Request(Caller(person, "ops"), core.entropy.random_bytes(16).hex(), digest)
    draft = Draft(command_id(person, at.stream, request.key), request, core.codec)
    draft.add(draft.stream(at.stream, at.version, at.hash), decided.events, at_ms)
    verdict = await core.store.append(draft.done())
    if not isinstance(verdict, Appended):
        raise Fault("still_running", f"another process writes to {at.stream}; stop all processes first")
    at.version, at.hash, at.table = at.version + len(decided.events), verdict.heads[0].hash, decided.table
