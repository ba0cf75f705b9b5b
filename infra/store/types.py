"""The store's nouns: what goes in, what comes out, and the verdict on an append. DESIGN "The event store"."""

from __future__ import annotations

from msgspec import Struct

GENESIS = bytes(32)
"""The hash before a stream's first event."""


class NewEvent(Struct, frozen=True):
    """An event that is not stored yet. `body` and `meta` are stored and hashed byte for byte."""

    type: str
    version: int
    body: bytes
    meta: bytes


class StreamAppend(Struct, frozen=True):
    """Events for one stream, to follow number `expected` (0: the stream is new) whose hash is `previous_hash`."""

    stream: str
    expected: int
    previous_hash: bytes
    events: tuple[NewEvent, ...]


class Append(Struct, frozen=True):
    """A command's events, stored all or none. `streams[0]` is the target stream of `command_id` (16 bytes)."""

    command_id: bytes
    streams: tuple[StreamAppend, ...]


class StoredEvent(Struct, frozen=True, gc=False):
    """A stored event. `pos` is dense in `part`, `seq` in `stream`; `idx` counts the events of the command from 0."""

    part: int
    pos: int
    stream: str
    seq: int
    type: str
    version: int
    command_id: bytes
    idx: int
    body: bytes
    meta: bytes
    hash: bytes


class StreamHead(Struct, frozen=True):
    """A stream's last number and its hash."""

    stream: str
    seq: int
    hash: bytes


class Appended(Struct, frozen=True, tag=True):
    """Stored and durable. One head a stream, in the order of the append's streams."""

    heads: tuple[StreamHead, ...]


class Duplicate(Struct, frozen=True, tag=True):
    """The command was stored before: these are its events, in order of `idx`. Nothing was stored now.

    Whether the command is the same or its id was `reused` is for the caller to tell, by the request digest in `meta`.
    """

    events: tuple[StoredEvent, ...]


class Conflict(Struct, frozen=True, tag=True):
    """`stream` stands at `actual`, not at `expected`. Nothing was stored."""

    stream: str
    expected: int
    actual: int


Verdict = Appended | Duplicate | Conflict
