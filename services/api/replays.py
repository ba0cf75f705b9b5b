"""The route of a hand's replay: every step of it, how its money was worked out, and what of it was checked.

Source: DESIGN "Audit", rulebook S6, H7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from litestar import Request, get
from litestar.params import FromQuery
from msgspec import Struct

from domain.cards import Card
from domain.events import HandStarted, Settings
from domain.handfile import from_events
from domain.legal import Offer
from domain.replay import At, HeldCards, Shown, shown
from domain.views import HandView
from domain.working import Working, worked_out
from infra.clock import rfc3339
from infra.meta import recorded_at_ms
from infra.store import GENESIS, StoredEvent
from projections.disputes import is_corrected
from projections.hands import HandRow
from projections.ledger.reads import PostedEntry, entries_of_hand, mismatches
from services.api.auth import caller_of
from services.api.examining import LOOK_REFUSALS, ended_hand, open_to, record_look, seat_of, stored_hand
from services.api.forms import HandId, Seat, Text
from services.api.house import House, house
from services.api.operation import Operation, described
from services.api.problems import Rejection
from services.api.proofs import (
    BooksProof,
    ChainProof,
    CheckpointProof,
    RulesProof,
    ShuffleProof,
    books_proof,
    chain_proof,
    checkpoint_proof,
    replayed,
    rules_proof,
    shuffle_proof,
)
from services.api.roles import HAND_READERS
from services.play.service import table_stream

Incoming = Request[Any, Any, Any]


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


class Replay(Struct, frozen=True, kw_only=True):
    """A hand that is over, step by step. `seat` is whose eyes it is seen through, null where all cards are open.

    `corrected`: its money was put right afterwards (R5); the steps and the result are as they were recorded.
    """

    hand: HandRow
    corrected: bool
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
    seed, report = replayed(file, seat)
    started = events[0]
    assert isinstance(started, HandStarted), row.hand_id
    return Replay(
        hand=row,
        corrected=await is_corrected(rooms.reader, row.hand_id),
        settings=started.table.settings,
        seat=seat,
        open=is_open,
        steps=_steps(shown(at, player), stored, entries),
        working=worked_out(events),
        books=books_proof(row, entries, None if waits is None else (waits.seq, waits.reason)),
        rules=rules_proof(report),
        chain=chain_proof(stored, before),
        shuffle=shuffle_proof(started, len(file.deals), seed, report),
        checkpoint=await checkpoint_proof(rooms, stored[-1]),
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
