"""Whether a table's record differs from the ledger's reckoning, by the log alone: waiting for no projection. R5."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from domain.ledger import Mismatch, TableBook, opening, post
from domain.ledger.laws import UnknownRules
from infra.codec import Codec
from infra.store import EventStore, StoredEvent


async def difference(store: EventStore, codec: Codec, stream: str) -> Mismatch | None:
    """The difference that is not made good at the stream's last event, or None. Raises Fault.

    It reads the whole stream: for who would resume a halted table, not for a command of the game.
    """
    stored = await store.read_stream(stream)
    return await asyncio.to_thread(_folded, codec, stored) if stored else None


def _folded(codec: Codec, stored: Sequence[StoredEvent]) -> Mismatch | None:
    book = opening(stored[0].stream)
    assert book is not None
    try:
        for each in stored:
            book, outcome = post(book, codec.decode_public(each), each.seq, each.command_id)
            followed = isinstance(book, TableBook) and book.mismatch is not None and not book.lost
            if isinstance(outcome, Mismatch) and not followed:
                return outcome
    except UnknownRules:
        return None
    return book.mismatch if isinstance(book, TableBook) else None
