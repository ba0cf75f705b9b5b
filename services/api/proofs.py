"""What of a hand that is over was checked, and what came of it: books, rules, chain, shuffle, checkpoint.

Source: DESIGN "Audit", rulebook S6, H7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from domain.events import HandStarted
from domain.handfile import Finding, HandFile, HandFileError, Report, check, redact
from infra.clock import rfc3339
from infra.store import StoredEvent
from infra.store.chain import event_hash
from infra.store.merkle import included
from projections.hands import HandRow
from projections.ledger.reads import PostedEntry
from services.api.house import House

State = Literal["holds", "fails", "not_checked"]


class BooksProof(Struct, frozen=True, kw_only=True):
    """Whether the ledger, which reckons by itself, came to the same; `not_checked` while it is behind."""

    state: State
    entries: int
    reason: str | None


class RulesProof(Struct, frozen=True, kw_only=True):
    """The hand file, replayed by the rules. `not_checked` are places that the caller may not see."""

    state: State
    actions: int
    problems: tuple[Finding, ...]
    not_checked: tuple[Finding, ...]


class ChainProof(Struct, frozen=True, kw_only=True):
    """The hashes of the hand's events, made anew from what is stored. `before` is the hash before the first of them,
    `head` the last one's; `broken_at` the first event whose hash is not its own."""

    state: State
    stream: str
    first_seq: int
    last_seq: int
    before: str
    head: str
    broken_at: int | None


class ClientSeed(Struct, frozen=True, kw_only=True):
    """S2: what a dealt-in player gave, in hex; empty where nothing."""

    player: str
    seed: str


class ShuffleProof(Struct, frozen=True, kw_only=True):
    """S1 to S5. `server_seed` is null, and nothing checked, where it is not disclosed to the caller (S6)."""

    state: State
    hand_id: str
    commitment: str
    server_seed: str | None
    client_seeds: tuple[ClientSeed, ...]
    deals: int
    problems: tuple[Finding, ...]


class CheckpointProof(Struct, frozen=True, kw_only=True):
    """Whether a signed checkpoint covers the hand's last event, at `pos` of `part`; `not_checked` until one does.

    `path` is how many hashes prove it in the part's tree of `size` events with this `root` (RFC 6962).
    """

    state: State
    part: int
    pos: int
    number: int | None = None
    at: str | None = None
    hash: str | None = None
    size: int | None = None
    root: str | None = None
    path: int | None = None


def replayed(file: HandFile, seat: int | None) -> tuple[str | None, Report]:
    """The server seed where the audience may have it, and what replaying the hand as they saw it finds (H7, S6)."""
    try:
        seen = file if seat is None else redact(file, seat)
    except HandFileError as error:
        return None, Report(problems=(Finding(error.field, "the hand does not replay by the rules"),))
    return None if seen.shuffle is None else seen.shuffle.server_seed, check(seen)


def rules_proof(report: Report) -> RulesProof:
    """What of the report is about the play, and not about the shuffle."""
    return RulesProof(
        state="holds" if report.holds else "fails",
        actions=report.actions,
        problems=tuple(each for each in report.problems if not _of_shuffle(each)),
        not_checked=report.unchecked,
    )


def books_proof(row: HandRow, entries: Sequence[PostedEntry], waits: tuple[int, str] | None) -> BooksProof:
    """The ledger posts a hand only where its own reckoning is the record's; else the table's stream waits there."""
    assert row.last_seq is not None, row.hand_id
    if waits is not None and row.first_seq <= waits[0] <= row.last_seq:
        return BooksProof(state="fails", entries=0, reason=waits[1])
    if entries or (row.ending != "voided" and row.bank == 0):
        return BooksProof(state="holds", entries=len(entries), reason=None)
    return BooksProof(state="not_checked", entries=0, reason=None)


def chain_proof(stored: Sequence[StoredEvent], before: bytes) -> ChainProof:
    """The hand's events hashed anew; `before` is the hash of the event before them."""
    previous, broken = before, None
    for e in stored:
        made = event_hash(previous, e.stream, e.seq, e.type, e.version, e.command_id, e.idx, e.body, e.meta)
        if made != e.hash:
            broken = e.seq
            break
        previous = e.hash
    return ChainProof(
        state="holds" if broken is None else "fails",
        stream=stored[0].stream,
        first_seq=stored[0].seq,
        last_seq=stored[-1].seq,
        before=before.hex(),
        head=stored[-1].hash.hex(),
        broken_at=broken,
    )


async def checkpoint_proof(rooms: House, last: StoredEvent) -> CheckpointProof:
    """Whether the newest checkpoint covers the hand's last event."""
    sealed = await rooms.checkpoints.latest()
    if sealed is None or sealed.size_of(last.part) < last.pos:
        return CheckpointProof(state="not_checked", part=last.part, pos=last.pos)
    (found,) = await rooms.checkpoints.inclusions(last.part, [last.pos], sealed.size_of(last.part))
    root = next(each.root for each in sealed.sealed if each.part == last.part)
    proved = sealed.is_signed() and included(last.hash, last.pos - 1, found.size, found.path, root)
    return CheckpointProof(
        state="holds" if proved else "fails",
        part=last.part,
        pos=last.pos,
        number=sealed.number,
        at=rfc3339(sealed.at_ms),
        hash=sealed.hash.hex(),
        size=found.size,
        root=root.hex(),
        path=len(found.path),
    )


def _of_shuffle(finding: Finding) -> bool:
    return finding.field.startswith(("shuffle.", "deals["))


def shuffle_proof(started: HandStarted, deals: int, seed: str | None, report: Report) -> ShuffleProof:
    """`seed` is the server seed where the audience may have it."""
    problems = tuple(each for each in report.problems if _of_shuffle(each))
    names = {s.seat: s.player for s in started.table.seats}
    return ShuffleProof(
        state="not_checked" if seed is None else "fails" if problems else "holds",
        hand_id=started.hand_id,
        commitment=started.commitment,
        server_seed=seed,
        client_seeds=tuple(
            ClientSeed(player=names[seat], seed=given)
            for seat, given in zip(started.dealt_in, started.client_seeds, strict=True)
        ),
        deals=deals,
        problems=problems,
    )
