"""What the rules of review must know from elsewhere: the hand, and who the reviewer is. Source: rulebook R1, R2."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from domain.disputes.commands import Reviewer
from domain.disputes.dispute import PARTNER_MS
from domain.events import DealtIn, Event, EvidenceFrozen, HandSettled, HandStarted, HandVoided, KeyLost
from infra.codec import Codec
from infra.faults import Fault
from infra.meta import decode_meta
from infra.projection_store import ProjectionReader
from infra.store import EventStore, StoredEvent
from projections.current import come_up
from projections.hands import hand
from projections.hands.partners import partners
from projections.players.reads import tables_of
from services.core import LOG
from services.disputes.types import EndedHand
from services.play.service import table_stream

HANDS, PLAYERS = "hands", "players"
KEY_LOST = str(KeyLost.__struct_config__.tag)

log = structlog.get_logger(__name__)


async def ended_hand(store: EventStore, codec: Codec, reader: ProjectionReader, hand_id: str) -> EndedHand | None:
    """The hand, where it is over; the projection says where it is, the log what it is. Raises Fault."""
    row = await hand(reader, hand_id)
    if row is None or row.last_seq is None:
        return None
    stream = table_stream(row.table_id)
    head = await store.head(stream)
    stored = await store.read_stream(stream, row.first_seq - 1, row.last_seq - row.first_seq + 1)
    events, opens = await _events(store, codec, stored)
    started, ended = events[0], events[-1]
    assert isinstance(started, HandStarted), hand_id
    assert isinstance(ended, HandSettled | HandVoided), hand_id
    assert started.hand_id == ended.hand_id == hand_id
    assert head is not None
    table = started.table
    return EndedHand(
        hand_id=hand_id,
        table_id=row.table_id,
        currency=table.settings.currency,
        players=tuple(DealtIn(seat=s.seat, player=s.player) for s in table.seats if s.seat in started.dealt_in),
        ended_ms=decode_meta(stored[-1].meta).at_ms,
        events=events,
        evidence=EvidenceFrozen(
            first_seq=row.first_seq,
            last_seq=row.last_seq,
            hash=stored[-1].hash.hex(),
            head_seq=head.seq,
            head_hash=head.hash.hex(),
        ),
        opens=opens,
    )


async def _events(store: EventStore, codec: Codec, stored: Sequence[StoredEvent]) -> tuple[tuple[Event, ...], bool]:
    """S7: whether they open; where no key was ever lost, all must. Raises Fault."""
    try:
        return tuple(codec.decode(each) for each in stored), True
    except Fault as fault:
        if fault.code != "seal_broken" or await store.last_of(LOG, (KEY_LOST,), at_most=2**62) is None:
            raise
        log.warning("hand_unopened", stream=stored[0].stream, detail=fault.detail)
        return tuple(codec.decode_public(each) for each in stored), False


async def reviewer(reader: ProjectionReader, name: str, players: tuple[DealtIn, ...], opened_ms: int) -> Reviewer:
    """R2: what stands against this reviewer in a dispute of a hand of `players`.

    Raises Fault, `unavailable` where the projections are behind: what they do not know yet stands against him too.
    """
    await come_up(reader, HANDS)
    names = [p.player for p in players]
    ties = await partners(reader, name, names, opened_ms - PARTNER_MS, opened_ms)
    return Reviewer(name=name, seated=await holds_seat(reader, name), partners=ties)


async def holds_seat(reader: ProjectionReader, name: str) -> bool:
    """Whether he sits at any table, as a player. Raises Fault, `unavailable` where that is not known yet."""
    await come_up(reader, PLAYERS)
    return bool((await tables_of(reader, name, limit=1)).items)
