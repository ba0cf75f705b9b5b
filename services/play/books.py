"""A table's record against the ledger's reckoning, by the log alone: waiting for no projection. Source: R5."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from domain.events import Event
from domain.ledger import Book, Mismatch, Outcome, TableBook, opening, post
from domain.ledger.laws import UnknownRules
from infra.codec import Codec
from infra.store import EventStore, StoredEvent


async def difference(store: EventStore, codec: Codec, stream: str) -> Mismatch | None:
    """The difference that is not made good at the stream's last event, or None. Raises Fault.

    It reads the whole stream: for who would resume a halted table, not for a command of the game.
    """
    stored = await store.read_stream(stream)
    return await asyncio.to_thread(_difference, codec, stored) if stored else None


def reckoned(codec: Codec, stored: Sequence[StoredEvent]) -> Iterator[tuple[Event, Book, Outcome]]:
    """A table's events from the first on, each with the ledger's book after it and what came of it.

    Raises UnknownRules.
    """
    book = opening(stored[0].stream)
    assert book is not None
    for each in stored:
        event = codec.decode_public(each)
        book, outcome = post(book, event, each.seq, each.command_id)
        yield event, book, outcome


def _difference(codec: Codec, stored: Sequence[StoredEvent]) -> Mismatch | None:
    last: Book | None = None
    with suppress(UnknownRules):
        for _, book, outcome in reckoned(codec, stored):
            followed = isinstance(book, TableBook) and book.mismatch is not None and not book.lost
            if isinstance(outcome, Mismatch) and not followed:
                return outcome
            last = book
        return last.mismatch if isinstance(last, TableBook) else None
    return None
