"""The end of a run, when nothing is broken any more: everybody is heard out, and all of the log is checked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

from infra.faults import Fault
from infra.projection_store import ProjectionReader
from projections import ledger
from projections.catalogue import newest
from projections.engine.rebuilding import Rebuild
from projections.engine.retiring import drop
from services.chaos.acknowledged import Kept
from services.chaos.fleet import Member, told_of_errors
from services.chaos.guests import CURRENCY
from services.chaos.log import LogWatch
from services.chaos.watching import Watcher, mark
from services.chaos.world import PROJECTIONS
from services.core import Core
from services.demo.check import check

LOOK_S = 0.2
SHOWN = 5
"""So many lines of a process's log are quoted, the last ones: there an exception says what it is."""


async def moving(log: LogWatch, within_s: float) -> list[str]:
    """Wait until a hand has ended at every table since now; the tables at which none has."""
    before = dict(log.hands())
    until = time.monotonic() + within_s
    while still := [name for name, ended in log.hands().items() if ended <= before.get(name, 0)]:
        if log.broken or time.monotonic() > until:
            return [f"{name}: no hand has ended within {within_s:.0f} s after all was well" for name in still]
        await asyncio.sleep(LOOK_S)
    return []


def acknowledged_once(kept: Kept, log: LogWatch) -> list[str]:
    """That the events of each answer are in the log, and answer no other command."""
    broken, seen = [], set[tuple[str, int]]()
    for index in range(len(kept)):
        sent = kept[index]
        if not isinstance(sent.answer, dict) or "events" not in sent.answer:
            continue
        table_id = sent.answer.get("table_id") or sent.path.split("/")[3]
        marks = log.streams[f"table-{table_id}"].marks
        for event in sent.answer["events"]:
            seq = event["seq"]
            if (table_id, seq) in seen:
                broken.append(f"event {seq} of table {table_id} answers two commands")
            if seq > len(marks) or marks[seq - 1] != mark(event["type"]):
                broken.append(f"event {seq} of table {table_id}, {event['type']}, was acknowledged and is not there")
            seen.add((table_id, seq))
    return broken


def watched_all(watchers: Sequence[Watcher], log: LogWatch) -> list[str]:
    """That each has every event from its first one to the stream's end, as the log has it."""
    broken = []
    for watcher in watchers:
        broken += watcher.broken
        marks = log.streams[watcher.stream].marks
        if watcher.first is None:
            broken.append(f"a client of {watcher.stream} was sent nothing")
        elif watcher.marks != marks[watcher.first - 1 :]:
            broken.append(f"a client of {watcher.stream} has events {watcher.first} to {watcher.last} of {len(marks)}")
    return broken


async def books(core: Core) -> list[str]:
    """The whole log by the demo's check, and the ledger by its own fold."""
    checked = await check(core, CURRENCY)
    broken = list(checked.differences)
    if checked.chain != "intact":
        broken.append(f"the chain is {checked.chain}")
    if checked.trial_balance or checked.deposited != checked.in_accounts + checked.commission:
        broken.append(f"the sums are wrong when all have left: {checked}")
    async with ProjectionReader(core.addresses.application) as reader:
        found = await ledger.reconcile(core.store, core.codec.decode_public, reader)
    broken += [f"ledger: {each}" for each in found.differences]
    return broken + [f"ledger: not posted: {each}" for each in found.waiting]


async def fresh_folds(core: Core) -> tuple[dict[str, int], list[str]]:
    """Every projection compared with a fresh fold of the log: the rows of each, and what differs."""
    rows, broken = {}, []
    for name in PROJECTIONS:
        try:
            await drop(core.addresses.application, name)
        except Fault as fault:
            if fault.code != "projection_missing":
                raise
        store, decode = core.store, core.codec.decode_public
        found = await Rebuild(core.addresses.application, store, decode, newest(name)).verify()
        assert found.comparison is not None, name
        rows[name] = found.comparison.rows
        if not found.comparison.alike or found.broken:
            broken.append(f"{name} is not as a fresh fold makes it: {found.comparison} {found.broken}")
    return rows, broken


def processes(members: Iterable[Member]) -> list[str]:
    """What ended though nobody had killed it, and what was logged as an error."""
    broken = []
    for member in members:
        broken += [f"{member.name} ended by itself with code {code}" for code in member.ended]
        errors = told_of_errors(member.log)
        if len(errors) > SHOWN:
            broken.append(f"{member.name} says {len(errors) - SHOWN} lines more before these; see {member.log}")
        broken += [f"{member.name} says: {line[:2_000]}" for line in errors[-SHOWN:]]
    return broken
