"""`khrap audit`: the log verified, sealed, and a hand taken out of it as evidence. DESIGN "Audit"."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from infra.audit import Audited, Checkpoint, CheckpointError, Checkpoints, NotSealed, audit, read_kept
from infra.audit.checkpoint import CheckpointHead, document, head_document
from infra.audit.growth import growth_document
from infra.faults import Fault
from infra.settings import Settings
from projections.hands import hand
from services.api.forms import UUID7
from services.audit.bundle import Bundles
from services.books import open_books
from services.cli.looking import record_look, said
from services.cli.output import Progress
from services.core import Core, open_core

PAGE = 200


class Sealed(Struct, frozen=True):
    """The newest checkpoint, and whether it was made now; None where there is nothing to seal."""

    checkpoint: Checkpoint | None
    new: bool


@asynccontextmanager
async def open_checkpoints(core: Core) -> AsyncIterator[Checkpoints]:
    """The checkpoints of a core's database."""
    async with Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing) as checkpoints:
        yield checkpoints


def kept_in(files: Sequence[Path]) -> list[CheckpointHead]:
    """The checkpoints of files that were kept elsewhere. Raises Fault(`checkpoint`)."""
    kept = []
    for path in files:
        try:
            kept += read_kept(path.read_bytes())
        except (OSError, CheckpointError) as error:
            why = getattr(error, "strerror", None) or error
            raise Fault("checkpoint", f"{path}: {why}") from error
    return kept


async def verified(settings: Settings, files: Sequence[Path], progress: Progress) -> tuple[Audited, int]:
    """The whole log, held against its checkpoints and those of the files, and how many these are. Raises Fault."""
    kept = kept_in(files)
    async with open_core(settings) as core, open_checkpoints(core) as checkpoints:
        total = sum((await core.store.part_heads()).values())
        done = 0

        def read(events: int) -> None:
            nonlocal done
            done += events
            progress(done, total)

        return await audit(core.store, checkpoints, kept, read), len(kept)


async def sealed(settings: Settings) -> Sealed:
    """Make a checkpoint of what the log holds. Raises Fault."""
    async with open_core(settings) as core, open_checkpoints(core) as checkpoints:
        made = await checkpoints.seal(core.clock.now_ms())
        return Sealed(made or await checkpoints.latest(), made is not None)


async def exported(settings: Settings, after: int) -> list[bytes]:
    """The checkpoints after a number, a line of JSON each: the newest whole, the others without their parts.

    The others' hashes bind their parts, and each the one before it. Raises Fault.
    """
    async with open_core(settings) as core, open_checkpoints(core) as checkpoints:
        lines: list[bytes] = []
        last: Checkpoint | None = None
        while page := await checkpoints.page(last.number if last else after, PAGE):
            lines += [msgspec.json.encode(head_document(each)) for each in page]
            last = page[-1]
        return [*lines[:-1], msgspec.json.encode(document(last))] if last else []


async def grown(settings: Settings, first: int, second: int | None) -> bytes:
    """The proof that the log only grew between two checkpoints, as JSON. Raises Fault."""
    async with open_core(settings) as core, open_checkpoints(core) as checkpoints:
        try:
            return msgspec.json.encode(growth_document(await checkpoints.growth(first, second)))
        except NotSealed as error:
            raise Fault("checkpoint", str(error)) from error


async def bundled(settings: Settings, hand_id: str, reason: str | None) -> bytes:
    """The dispute bundle of a hand that is over; the look is recorded first. Raises Fault."""
    if not re.match(UUID7, hand_id):
        raise Fault("hand", f"{hand_id} is not a hand's id")
    why = said(reason)
    async with open_books(settings) as books, open_checkpoints(books.core) as checkpoints:
        core = books.core
        row = await hand(books.reader, hand_id)
        if row is None or row.last_seq is None:
            raise Fault("hand", f"there is no hand {hand_id} that is over; a running one is nobody's to see")
        await record_look(books, row, "bundle", why)
        return await Bundles(core.store, core.codec, core.sealer, checkpoints, books.reader, core.clock).of(row)
