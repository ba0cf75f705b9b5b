"""The route of a hand's replay: every step of it, how its money was worked out, and what of it was checked.

Source: DESIGN "Audit", rulebook S6, H7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from litestar import Request, get
from litestar.params import FromQuery
from msgspec import Struct

from domain.cards import Card
from domain.events import HandStarted, Settings
from domain.handfile import Finding, HandFile, HandFileError, Report, check, from_events, redact
from domain.legal import Offer
from domain.replay import At, HeldCards, Shown, shown
from domain.views import HandView
from domain.working import Working, worked_out
from infra.clock import rfc3339
from infra.meta import recorded_at_ms
from infra.store import GENESIS, StoredEvent
from infra.store.chain import event_hash
from infra.store.merkle import included
from projections.hands import HandRow
from projections.ledger.reads import PostedEntry, entries_of_hand, mismatches
from services.api.auth import caller_of
from services.api.examining import LOOK_REFUSALS, ended_hand, open_to, record_look, seat_of, stored_hand
from services.api.forms import HandId, Seat, Text
from services.api.house import House, house
from services.api.operation import Operation, described
from services.api.problems import Rejection
from services.api.roles import HAND_READERS
from services.play.service import table_stream

Incoming = Request[Any, Any, Any]
State = Literal["holds", "fails", "not_checked"]


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """An entry of the books: `amount` goes from the account `debit` to the account `credit`."""

    debit: str
    credit: str
    amount: int
    clause: str


class ReplayStep(Struct, frozen=True, kw_only=True):
    """One event and the hand after it.

    `offered` is what its player could have done, null where the caller may not know. `held` are the hands that lie open
    to the caller, `stock` the cards still to come, null where they are hidden. `entries` are the ledger's for it.
    """

    seq: int
    at: str
    event: dict[str, Any]
    clauses: tuple[str, ...]
    offered: tuple[Offer, ...] | None
    hand: HandView
    held: tuple[HeldCards, ...]
    stock: tuple[Card, ...] | None
    entries: tuple[LedgerEntry, ...]
    hash: str


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


class Replay(Struct, frozen=True, kw_only=True):
    """A hand that is over, step by step. `seat` is whose eyes it is seen through, null where all cards are open."""

    hand: HandRow
    settings: Settings
    seat: int | None
    open: bool
    steps: tuple[ReplayStep, ...]
    working: Working
    books: BooksProof
    rules: RulesProof
    chain: ChainProof
    shuffle: ShuffleProof
    checkpoint: CheckpointProof


@get(
    "/v1/hands/{hand_id:str}/replay",
    opt=described(
        Operation(
            tag="hands",
            summary="A hand that is over, step by step",
            description=(
                "The table after each event, by which clauses it came, the entries of the books, how the money was "
                "worked out, and what of it was checked. With `seat` only what that seat's player saw at the time; a "
                "player names his own. Compliance gives a `reason`, which is recorded."
            ),
            rule=HAND_READERS,
            answer=Replay,
            refusals=LOOK_REFUSALS,
            problems=("not_found", "conflict"),
        )
    ),
)
async def replay(
    request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None, seat: FromQuery[Seat | None] = None
) -> Replay:
    """Folded from the recorded events, each time anew."""
    rooms, caller = house(request), caller_of(request)
    row = await ended_hand(request, hand_id)
    own = seat_of(row, caller.subject)
    if caller.role == "player" and seat not in (None, own):
        raise Rejection("not_allowed", f"a player looks with his own eyes: seat={own}, or none")
    if seat is not None and all(p.seat != seat for p in row.players):
        raise Rejection("invalid", f"seat: {seat} was not dealt in")
    await record_look(request, row, "view", reason)
    is_open = open_to(caller, row)
    return await _replay(rooms, row, seat if is_open else own, is_open)


async def _replay(rooms: House, row: HandRow, seat: int | None, is_open: bool) -> Replay:
    stored = await stored_hand(rooms, row, before=1)
    before = GENESIS
    if stored[0].seq < row.first_seq:
        before, stored = stored[0].hash, stored[1:]
    at = [At(each.seq, recorded_at_ms(each.meta), rooms.codec.decode(each)) for each in stored]
    events = [each.event for each in at]
    player = None if seat is None else next(p.player for p in row.players if p.seat == seat)
    entries = await entries_of_hand(rooms.reader, row.hand_id)
    waits = {each.stream: each for each in await mismatches(rooms.reader)}.get(table_stream(row.table_id))
    file = from_events(events)
    seed, report = _checked(file, seat)
    started = events[0]
    assert isinstance(started, HandStarted), row.hand_id
    return Replay(
        hand=row,
        settings=started.table.settings,
        seat=seat,
        open=is_open,
        steps=_steps(shown(at, player), stored, entries),
        working=worked_out(events),
        books=_books(row, entries, None if waits is None else (waits.seq, waits.reason)),
        rules=RulesProof(
            state="holds" if report.holds else "fails",
            actions=report.actions,
            problems=tuple(each for each in report.problems if not _of_shuffle(each)),
            not_checked=report.unchecked,
        ),
        chain=_chain(stored, before),
        shuffle=_shuffle(started, len(file.deals), seed, report),
        checkpoint=await _checkpoint(rooms, stored[-1]),
    )


def _steps(
    steps: Iterable[Shown], stored: Sequence[StoredEvent], entries: Sequence[PostedEntry]
) -> tuple[ReplayStep, ...]:
    by_seq: dict[int, list[LedgerEntry]] = {}
    for entry in entries:
        line = LedgerEntry(debit=entry.debit, credit=entry.credit, amount=entry.amount, clause=entry.clause)
        by_seq.setdefault(entry.seq, []).append(line)
    return tuple(_step(each, place, by_seq.get(each.seq, [])) for each, place in zip(steps, stored, strict=True))


def _step(step: Shown, stored: StoredEvent, entries: Sequence[LedgerEntry]) -> ReplayStep:
    at = rfc3339(step.at_ms)
    return ReplayStep(
        seq=step.seq,
        at=at,
        event={"seq": step.seq, "at": at, **step.event},
        clauses=step.clauses,
        offered=step.offered,
        hand=step.hand,
        held=step.held,
        stock=step.stock,
        entries=tuple(entries),
        hash=stored.hash.hex(),
    )


def _checked(file: HandFile, seat: int | None) -> tuple[str | None, Report]:
    """The server seed where the audience may have it, and what replaying the hand as they saw it finds (H7, S6)."""
    try:
        seen = file if seat is None else redact(file, seat)
    except HandFileError as error:
        return None, Report(problems=(Finding(error.field, "the hand does not replay by the rules"),))
    return None if seen.shuffle is None else seen.shuffle.server_seed, check(seen)


def _books(row: HandRow, entries: Sequence[PostedEntry], waits: tuple[int, str] | None) -> BooksProof:
    """The ledger posts a hand only where its own reckoning is the record's; else the table's stream waits there."""
    assert row.last_seq is not None, row.hand_id
    if waits is not None and row.first_seq <= waits[0] <= row.last_seq:
        return BooksProof(state="fails", entries=0, reason=waits[1])
    if entries or (row.ending != "voided" and row.bank == 0):
        return BooksProof(state="holds", entries=len(entries), reason=None)
    return BooksProof(state="not_checked", entries=0, reason=None)


def _chain(stored: Sequence[StoredEvent], before: bytes) -> ChainProof:
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


async def _checkpoint(rooms: House, last: StoredEvent) -> CheckpointProof:
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


def _shuffle(started: HandStarted, deals: int, seed: str | None, report: Report) -> ShuffleProof:
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
