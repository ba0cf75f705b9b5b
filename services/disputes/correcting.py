"""What a wrongly settled hand should have come to: by the rules and by the books, which must agree. Source: R5."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from msgspec import Struct

from domain.events import Event, Result
from domain.hand import Over
from domain.handfile import HandFileError, from_events
from domain.handfile.replaying import replay_whole
from domain.ledger import Book, TableBook, opening, post
from domain.ledger.books import HandDispute
from domain.refusal import Refused
from infra.codec import Codec
from infra.store import EventStore, StoredEvent
from services.disputes.types import EndedHand
from services.play.service import table_stream


class Correctable(Struct, frozen=True):
    """The difference as the books have it, and whether it is the table's last."""

    dispute: HandDispute
    is_last: bool


async def correctable(store: EventStore, codec: Codec, hand: EndedHand) -> Correctable | Refused:
    """The books of the table folded from its first event, and the hand replayed. Raises Fault."""
    stream = table_stream(hand.table_id)
    stored = await store.read_stream(stream)
    book = await asyncio.to_thread(_folded, codec, stored)
    disputes = book.disputes if isinstance(book, TableBook) and not book.lost else ()
    found = next((d for d in disputes if d.hand_id == hand.hand_id), None)
    if found is None:
        detail = "the books hold this hand for settled as the rules have it; what a player lost by it is compensated"
        return Refused("nothing_to_correct", "R5", detail)
    if not _agree(found, by_rules(hand.events)):
        detail = "rules and books come to different results of this hand; whoever keeps the program must look into it"
        return Refused("not_offered", "R5", detail)
    return Correctable(found, len(disputes) == 1)


def _folded(codec: Codec, stored: Sequence[StoredEvent]) -> Book:
    """The ledger's book of a table after all of its events."""
    book = opening(stored[0].stream)
    assert book is not None
    for each in stored:
        book, _ = post(book, codec.decode_public(each), each.seq, each.command_id)
    return book


def by_rules(events: Iterable[Event]) -> Result | None:
    """The result that the rules give for the words and cards of a hand; None where these leave the rules."""
    try:
        *_, last = replay_whole(from_events(events))
    except (HandFileError, AssertionError, LookupError, ValueError):
        return None
    return last.hand.phase.result if isinstance(last.hand.phase, Over) else None


def _agree(dispute: HandDispute, result: Result | None) -> bool:
    return result == dispute.right if dispute.basis == "rules" else result in (None, dispute.right)
