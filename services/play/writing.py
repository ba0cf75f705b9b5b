"""An append in the making: events of several streams under one command id."""

from __future__ import annotations

from collections.abc import Sequence

from domain.events import Event
from infra.codec import Codec
from infra.meta import Meta, decode_meta, encode_meta
from infra.store import Append, NewEvent, StoredEvent, StreamAppend
from services.play.types import Request

CLOCK = "clock"


class StreamDraft:
    """The events of one stream, each sealed for the number that it will have."""

    def __init__(self, stream: str, expected: int, previous_hash: bytes) -> None:
        self.stream = stream
        self.expected = expected
        self.previous_hash = previous_hash
        self.events: list[NewEvent] = []


class Draft:
    """Collects what one command appends; the first stream is the one that the command id is made for."""

    def __init__(self, command_id: bytes, request: Request, codec: Codec) -> None:
        self._command_id = command_id
        self._request = request
        self._codec = codec
        self._streams: list[StreamDraft] = []

    def stream(self, stream: str, expected: int, previous_hash: bytes) -> StreamDraft:
        """Begin a stream at the version that was read."""
        draft = StreamDraft(stream, expected, previous_hash)
        self._streams.append(draft)
        return draft

    def add(self, to: StreamDraft, events: Sequence[Event], at_ms: int) -> None:
        """Add events as recorded at `at_ms`."""
        caller = self._request.caller
        by = caller.role if caller.role in (CLOCK, "steward") else "person"
        meta = encode_meta(
            Meta(at_ms=at_ms, subject=caller.subject, role=caller.role, by=by, request=self._request.digest)
        )
        for event in events:
            seq = to.expected + len(to.events) + 1
            to.events.append(self._codec.encode(event, to.stream, seq, meta))

    def done(self) -> Append:
        """The append."""
        streams = tuple(StreamAppend(d.stream, d.expected, d.previous_hash, tuple(d.events)) for d in self._streams)
        return Append(self._command_id, streams)


def same_request(stored: StoredEvent, request: Request) -> bool:
    """Whether the stored event was made by the same request: its HMAC is compared, not a plain digest."""
    return decode_meta(stored.meta).request == request.digest
