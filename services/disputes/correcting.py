"""What a wrongly settled hand should have come to: by the rules and by the books, which must agree. Source: R5."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from msgspec import Struct

from domain.events import Event, HandCorrected, Result
from domain.hand import Over
from domain.handfile import HandFileError, from_events
from domain.handfile.replaying import replay_whole
from domain.ledger import Book, TableBook
from domain.ledger.books import HandDispute
from domain.refusal import Refused
from infra.codec import Codec
from infra.store import EventStore, StoredEvent
from services.disputes.types import EndedHand
from services.play.books import reckoned
from services.play.service import table_stream


class Correctable(Struct, frozen=True):
    """The difference as the books have it after event `version` of the table, whose hash is `hash`.

    `is_last`: no other hand of the table differs. `corrected` are the hands that were put right there.
    """

    dispute: HandDispute
    is_last: bool
    corrected: tuple[str, ...]
    version: int
    hash: bytes


async def correctable(
    store: EventStore, codec: Codec, hand: EndedHand, version: int | None = None
) -> Correctable | Refused:
    """The books of the table folded from its first event to number `version`, and the hand replayed. Raises Fault.

    What is decided on these figures is appended after the event that was folded last, and nowhere else: a correction
    that was made meanwhile would be paid once more.
    """
    stream = table_stream(hand.table_id)
    stored = await store.read_stream(stream, 0, version)
    book, corrected = await asyncio.to_thread(_folded, codec, stored)
    disputes = book.disputes if isinstance(book, TableBook) and not book.lost else ()
    found = next((d for d in disputes if d.hand_id == hand.hand_id), None)
    if found is None:
        detail = "the books hold this hand for settled as the rules have it; what a player lost by it is compensated"
        return Refused("nothing_to_correct", "R5", detail)
    # S7: where the key is lost nobody can replay the hand, and the books alone, which need no secret, reckon it.
    if hand.opens and not _agree(found, by_rules(hand.events)):
        detail = "rules and books come to different results of this hand; whoever keeps the program must look into it"
        return Refused("not_offered", "R5", detail)
    last = stored[-1]
    return Correctable(found, len(disputes) == 1, corrected, last.seq, last.hash)


def _folded(codec: Codec, stored: Sequence[StoredEvent]) -> tuple[Book, tuple[str, ...]]:
    """The ledger's book of a table after these events, and the hands that were put right by them."""
    steps = list(reckoned(codec, stored))
    return steps[-1][1], tuple(event.hand_id for event, _, _ in steps if isinstance(event, HandCorrected))


def by_rules(events: Iterable[Event]) -> Result | None:
    """The result that the rules give for the words and cards of a hand; None where these leave the rules."""
    try:
        *_, last = replay_whole(from_events(events))
    except (HandFileError, AssertionError, LookupError, ValueError):
        return None
    return last.hand.phase.result if isinstance(last.hand.phase, Over) else None


def _agree(dispute: HandDispute, result: Result | None) -> bool:
    return result == dispute.right if dispute.basis == "rules" else result in (None, dispute.right)
