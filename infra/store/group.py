"""A group: the commands that one call of `store.append` stores, and what the call is given for them."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Sequence

from infra.store import arrays
from infra.store.arrays import Binary
from infra.store.chain import event_hash, part_of
from infra.store.types import GENESIS, Append, Appended, Conflict, NewEvent, StreamAppend, StreamHead, Verdict

_StreamRow = tuple[int, str, int, int, bytes, bytes]  # part, stream, expected, count, previous hash, last hash
_EventRow = tuple[int, str, int, bytes, int, str, int, bytes, bytes, bytes]
# part, stream, seq, command id, idx, type, version, body, meta, hash

MOST_EVENTS = 32_767
LONGEST_NAME = 250  # characters of a stream's name or an event's type: at most 1,000 bytes, which an index can hold


class Item:
    """A command on its way into the store: checked, hashed, with the future of who waits for its verdict."""

    __slots__ = (
        "append",
        "appended",
        "deadline",
        "event_rows",
        "future",
        "in_doubt",
        "link",
        "parts",
        "size",
        "stream_rows",
        "streams",
        "then",
    )

    def __init__(
        self,
        append: Append,
        parts: int,
        future: Future[Verdict],
        deadline: float,
        then: Callable[[Appended], None] | None = None,
    ) -> None:
        assert len(append.command_id) == 16, "a command id has 16 bytes"
        self.append = append
        self.future = future
        self.deadline = deadline
        self.then = then
        self.stream_rows: list[_StreamRow] = []
        self.event_rows: list[_EventRow] = []
        self.size = 0
        self.in_doubt = False  # whether it was sent and no answer came
        self.link: object | None = None  # to the span of who waits for its verdict
        heads = [self._add(each, parts) for each in append.streams]
        self.streams = [head.stream for head in heads]
        self.parts = [row[0] for row in self.stream_rows]
        assert len(set(self.streams)) == len(heads) > 0, "a command appends to each of its streams once"
        assert len(self.event_rows) <= MOST_EVENTS, "too many events for one command"
        self.appended = Appended(tuple(heads))

    @property
    def hashes(self) -> list[bytes]:
        """The hashes of its events, in order of `idx`."""
        return [row[-1] for row in self.event_rows]

    def conflict(self, stream: str, actual: int) -> Conflict:
        """The verdict on an append to a stream that stands at `actual`."""
        (expected,) = [each.expected for each in self.append.streams if each.stream == stream]
        return Conflict(stream, expected, actual)

    def _add(self, append: StreamAppend, parts: int) -> StreamHead:
        stream, seq, previous = append.stream, append.expected, append.previous_hash
        assert 0 < len(stream) <= LONGEST_NAME, "a stream's name is short"
        assert append.events, "an append to a stream has events"
        assert len(previous) == 32, "a hash has 32 bytes"
        assert seq > 0 or (seq == 0 and previous == GENESIS), "before its first event a stream's hash is zeros"
        part = part_of(stream, parts)
        for event in append.events:
            seq += 1
            previous = self._add_event(part, stream, seq, previous, event)
        count = len(append.events)
        self.stream_rows.append((part, stream, append.expected, count, append.previous_hash, previous))
        return StreamHead(stream, seq, previous)

    def _add_event(self, part: int, stream: str, seq: int, previous: bytes, event: NewEvent) -> bytes:
        type_, version, body, meta = event.type, event.version, event.body, event.meta
        assert 0 < len(type_) <= LONGEST_NAME, "an event's type is short"
        assert 0 < version <= 32_767, "an event's version is a small number from 1"
        command_id, idx = self.append.command_id, len(self.event_rows)
        hash_ = event_hash(previous, stream, seq, type_, version, command_id, idx, body, meta)
        self.event_rows.append((part, stream, seq, command_id, idx, type_, version, body, meta, hash_))
        self.size += len(body) + len(meta)
        return hash_


def parameters(group: Sequence[Item]) -> tuple[Binary, ...]:
    """The parameters of `append.sql`."""
    s_item = [number for number, item in enumerate(group) for _ in item.stream_rows]
    s_part, s_stream, s_expected, s_count, s_previous, s_hash = zip(
        *[row for item in group for row in item.stream_rows], strict=True
    )
    e_item = [number for number, item in enumerate(group) for _ in item.event_rows]
    e_part, e_stream, e_seq, e_command, e_idx, e_type, e_version, e_body, e_meta, e_hash = zip(
        *[row for item in group for row in item.event_rows], strict=True
    )
    items, parts, streams = arrays.int4s(s_item), arrays.int2s(s_part), arrays.texts(s_stream)
    hashes = arrays.hashes(s_hash)
    # Where every command is one event, as most are, an event's row begins and ends like its stream's.
    alike = len(s_item) == len(e_item)
    return (
        items,
        parts,
        streams,
        arrays.int8s(s_expected),
        arrays.int4s(s_count),
        arrays.hashes(s_previous),
        hashes,
        items if alike else arrays.int4s(e_item),
        parts if alike else arrays.int2s(e_part),
        streams if alike else arrays.texts(e_stream),
        arrays.int8s(e_seq),
        arrays.uuids(e_command),
        arrays.int2s(e_idx),
        arrays.texts(e_type),
        arrays.int2s(e_version),
        arrays.blobs(e_body),
        arrays.blobs(e_meta),
        hashes if alike else arrays.hashes(e_hash),
    )
