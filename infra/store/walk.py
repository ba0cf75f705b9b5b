"""A part walked from its first event on: chain, order, counters, and the tree that checkpoints sealed.

Source: DESIGN "The event store", promise 4, and "Audit".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import psycopg
from msgspec import Struct
from psycopg import Connection, sql
from psycopg.pq import ExecStatus

from infra.store.chain import PREFIX, event_hash, part_of
from infra.store.connect import STORE_SETTINGS, application_conninfo
from infra.store.merkle import TILE_BITS, Tree
from infra.store.queries import query
from infra.store.types import GENESIS

HEADS_OF_PART = query("heads_of_part")
NODES_OF_PART = query("nodes_of_part")
PART_HEAD = query("part_head")
EVENT_AT = query("event_at")
WALK_PART = query("walk_part").decode()

MISFIT = "the hash does not fit the event and the one before"
CHUNK = 4_096
"""After so many events the tree grows and the caller is told."""

# The columns of walk_part.sql up to the length of the stream's name. Each comes after its length, which is skipped:
# another one, in a table that was altered, gives another hash. They are never null.
_FIXED = struct.Struct(">2x 4xQ 4xQ 4x2s 4x2s 4x16s i32s i")
_SEQ = slice(18, 26)
_length = struct.Struct(">i").unpack_from
LONGEST = 4 + 65_535
"""No type is longer, with its length: the formula has two bytes for that."""
COPY_HEADER = 19
TRAILER = 2


_seal = struct.Struct(">QQ?32s")


class Seal(Struct, frozen=True):
    """What checkpoint `number` says of a part: the root over its first `size` events. `kept`: one kept elsewhere."""

    size: int
    number: int
    kept: bool
    root: bytes

    @property
    def by(self) -> str:
        """The checkpoint's name."""
        return f"{'the kept checkpoint' if self.kept else 'checkpoint'} {self.number}"

    def packed(self) -> bytes:
        """49 bytes, which sort by size: a year of checkpoints has millions of seals."""
        return _seal.pack(self.size, self.number, self.kept, self.root)


def unpacked(seals: bytes) -> list[Seal]:
    """Packed seals one after another, by size."""
    records = [seals[at : at + _seal.size] for at in range(0, len(seals), _seal.size)]
    return [Seal(*_seal.unpack(record)) for record in sorted(records)]


class Broken(Struct, frozen=True):
    """The first thing that is wrong in a part: at which event (`pos` 0: at a counter), and what."""

    part: int
    pos: int
    stream: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"part {self.part} position {self.pos}, {self.stream or 'no stream'} event {self.seq}: {self.what}"


class PartWalked(Struct, frozen=True):
    """What the walk of a part has seen, up to the first thing wrong."""

    events: int
    streams: int
    broken: Broken | None


def connect(url: str) -> Connection[Any]:
    """A connection for walking, as the application's role; a long part takes as long as it takes."""
    settings = {**STORE_SETTINGS, "statement_timeout": "0"}
    return Connection.connect(application_conninfo(url, settings), autocommit=True)


def walk_part(
    connection: Connection[Any], part: int, parts: int, seals: bytes, counted: Callable[[int], None]
) -> PartWalked:
    """Walk a part as it stood at one moment, and compare its tree with the packed `seals`.

    `counted` is told how many events were read since it was last told. Raises psycopg's errors.
    """
    with connection.transaction():
        connection.execute("set transaction isolation level repeatable read, read only")
        walk = _Walk(connection, part, parts, seals)
        walk.events(counted)
        walk.locate()
        if walk.broken is None:
            walk.counters()
        if walk.broken is None:
            walk.cut_off()
        return PartWalked(walk.pos, len(walk.heads), walk.broken)


class _Walk:
    """One part's walk. `heads` are the streams' last numbers and hashes so far."""

    def __init__(self, connection: Connection[Any], part: int, parts: int, seals: bytes) -> None:
        self._connection = connection
        self._part = part
        self._parts = parts
        self.pos = 0
        self.heads: dict[bytes, tuple[int, bytes]] = {}
        self.broken: Broken | None = None
        self._unlike: tuple[int, str] | None = None
        self._tree = _SealedTree(unpacked(seals), self._nodes() if seals else {})

    def _nodes(self) -> dict[tuple[int, int], bytes]:
        rows = self._connection.cursor(binary=True).execute(NODES_OF_PART, (self._part,))
        return {(level, n): hash_ for level, n, hash_ in rows}

    def events(self, counted: Callable[[int], None]) -> None:
        """Check event by event, until one is wrong."""
        # One loop over slices of the rows as the server sends them, whose body and meta are prefixed with their lengths
        # just as the chain's formula has them: 5 µs an event with the tree, where a struct for each took 11.
        heads, fixed, begin = self.heads, _FIXED.unpack_from, _FIXED.size
        hashes: list[bytes] = []
        stop = self._tree.next_stop(0)
        last = 0
        rows = _rows(self._connection, self._part)
        try:
            for row in rows:
                pos, seq, version, idx, command_id, hash_size, hash_, size = fixed(row)
                if hash_size != 32:
                    self.broken = self._wrong(row, last) or self._altered(last)
                    return
                end = begin + size
                stream = row[begin:end]
                head = heads.get(stream)
                number, previous = (0, GENESIS) if head is None else head
                rest = end + 4 + _length(row, end)[0]
                # Of a length of four bytes the last two are the formula's.
                text = b"".join(
                    (
                        PREFIX,
                        previous,
                        row[begin - 2 : end],
                        row[_SEQ],
                        row[end + 2 : rest],
                        version,
                        command_id,
                        idx,
                        row[rest:],
                    )
                )
                if (
                    sha256(text).digest() != hash_
                    or pos != last + 1
                    or seq != number + 1
                    or head is None
                    or rest - end > LONGEST
                ):
                    wrong = self._wrong(row, last)
                    if wrong is not None:
                        self.broken = wrong
                        return
                last = pos
                heads[stream] = (seq, hash_)
                hashes.append(hash_)
                if pos == stop:
                    counted(len(hashes))
                    self._unlike = self._tree.add(hashes)
                    hashes = []
                    if self._unlike is not None:
                        return
                    stop = self._tree.next_stop(pos)
        except struct.error:
            self.broken = self._altered(last)
            return
        finally:
            self.pos = last
            rows.close()
            counted(len(hashes))
        self._unlike = self._tree.add(hashes)

    def _altered(self, last: int) -> Broken:
        return Broken(self._part, last + 1, "", 0, "what stands there is no event: the table was altered")

    def _wrong(self, row: bytes, last: int) -> Broken | None:
        """What is wrong with an event after position `last`; None if it is only the first of its stream."""
        pos8, seq8, version, idx, command_id, hash_, stream, type_, body, meta = _fields(row)
        pos, seq = (int.from_bytes(each, "big", signed=True) for each in (pos8, seq8))
        name = stream.decode(errors="replace")
        head = self.heads.get(stream)
        number, previous = (0, GENESIS) if head is None else head
        home = part_of(name, self._parts)
        if pos != last + 1:
            what = f"position {last + 1} is missing"
        elif home != self._part:
            what = f"the stream belongs to part {home}"
        elif seq != number + 1:
            what = f"event {number + 1} of the stream is missing"
        else:
            named = type_.decode(errors="replace"), int.from_bytes(version, "big"), command_id
            fits = hash_ == event_hash(previous, name, seq, *named, int.from_bytes(idx, "big"), body, meta)
            if fits:
                return None
            what = MISFIT
        return Broken(self._part, pos, name, seq, what)

    def locate(self) -> None:
        """Where the tree is not what was sealed: the first event that may be the one, by its stream and number."""
        if self._unlike is not None:
            after, what = self._unlike
            row = self._connection.execute(EVENT_AT, (self._part, after + 1)).fetchone()
            stream, seq = ("", 0) if row is None else row
            self.broken = Broken(self._part, after + 1, stream, seq, what)

    def counters(self) -> None:
        """Compare the part's counter and its streams' heads with the events."""
        cursor = self._connection.cursor(binary=True)
        row = cursor.execute(PART_HEAD, (self._part,)).fetchone()
        last_pos = -1 if row is None else row[0]
        if last_pos != self.pos:
            what = f"the part's counter is {last_pos}, its last event {self.pos}"
            self.broken = Broken(self._part, 0, "", 0, what)
            return
        walked = {stream.decode(): head for stream, head in self.heads.items()}
        kept = {name: (seq, hash_) for name, seq, hash_ in cursor.execute(HEADS_OF_PART, (self._part,))}
        for stream in sorted(walked.keys() | kept.keys()):
            if walked.get(stream) != kept.get(stream):
                what = disagreement(kept.get(stream), walked.get(stream))
                self.broken = Broken(self._part, 0, stream, walked.get(stream, (0,))[0], what)
                return

    def cut_off(self) -> None:
        """Whether a checkpoint sealed more events than there are."""
        seal = self._tree.beyond()
        if seal is not None:
            what = (
                f"{seal.by} sealed {seal.size:,} events of this part, and {self.pos:,} are there: its end was cut off"
            )
            self.broken = Broken(self._part, self.pos + 1, "", 0, what)


class _SealedTree:
    """The part's tree beside what was sealed of it, and beside its nodes as they are kept."""

    def __init__(self, seals: Sequence[Seal], nodes: Mapping[tuple[int, int], bytes]) -> None:
        self._seals = seals
        self._at = 0
        self._nodes = dict(nodes)
        self._tree = Tree()
        self._right = 0
        self._alike = 0
        self._odd_node: tuple[int, int] | None = None

    def next_stop(self, pos: int) -> int:
        """At which position the tree is to grow next."""
        size = self._seals[self._at].size if self._at < len(self._seals) else pos + CHUNK
        return min(size if size > pos else pos + CHUNK, pos + CHUNK)

    def beyond(self) -> Seal | None:
        """The first seal over more events than there were."""
        return self._seals[self._at] if self._at < len(self._seals) else None

    def add(self, hashes: Sequence[bytes]) -> tuple[int, str] | None:
        """Grow. None, or after which position something is wrong, and what."""
        if self._at == len(self._seals):
            return None  # what follows is not sealed yet
        for level, n, hash_ in self._tree.add(hashes):
            # A node may be missing where the checkpoint at hand is one kept elsewhere and the store's own are gone.
            kept = self._nodes.pop((level, n), None)
            if kept == hash_ and level == 1 and self._odd_node is None:
                self._alike = (n + 1) << TILE_BITS
            elif kept is not None and kept != hash_ and self._odd_node is None:
                self._odd_node = level, n
        compared = False
        while self._at < len(self._seals) and self._seals[self._at].size == self._tree.size:
            seal = self._seals[self._at]
            if self._tree.root() != seal.root:
                return self._differs(seal)
            self._at += 1
            compared = True
        if compared:
            self._right = self._tree.size
        if self._odd_node is not None and compared:
            level, n = self._odd_node
            after = n << (level * TILE_BITS)
            return after, f"the events are those that were sealed, but the kept node {n} of level {level} is another"
        return None

    def _differs(self, seal: Seal) -> tuple[int, str]:
        """The sealed tree is another, from after the last size that was right.

        Where, the kept nodes give a hint, which nobody signed: those of a log that was written anew agree with it.
        """
        after, upto = self._right, seal.size
        if not seal.kept:
            after = max(after, min(self._alike, upto - 1))
        if self._odd_node is not None:
            level, n = self._odd_node
            after = max(after, n << (level * TILE_BITS))
            upto = min(upto, (n + 1) << (level * TILE_BITS))
        what = f"{seal.by} sealed other events: {_one_of(self._right, seal.size)} was changed, chain and all"
        if (after, upto) != (self._right, seal.size):
            what += f"; by the kept nodes {_one_of(after, upto)}"
        return after, what


def _one_of(after: int, upto: int) -> str:
    return f"position {upto}" if after + 1 == upto else f"one of the positions {after + 1} to {upto}"


def _rows(connection: Connection[Any], part: int) -> Generator[bytes, None, None]:
    """The rows of walk_part.sql as the server's COPY has them. Closed early, it reads the rest and forgets it."""
    # psycopg's own loop costs 2 µs a row, libpq's call 0.7.
    pgconn = connection.pgconn
    pgconn.send_query(sql.SQL(WALK_PART).format(part=sql.Literal(part)).as_bytes(connection))
    began = pgconn.get_result()
    if began is None or began.status != ExecStatus.COPY_OUT:
        raise _failure(connection, began)
    skip, size = COPY_HEADER, 0
    try:
        while True:
            size, data = pgconn.get_copy_data(0)
            if size <= 0:
                break
            if size > skip + TRAILER:
                yield bytes(data[skip:]) if skip else bytes(data)
            skip = 0
    finally:
        while size > 0:
            size, _ = pgconn.get_copy_data(0)
        ended = []
        while (result := pgconn.get_result()) is not None:
            ended.append(result)
    for result in ended:
        if result.status != ExecStatus.COMMAND_OK:
            raise _failure(connection, result)


def _failure(connection: Connection[Any], result: Any) -> psycopg.Error:
    if result is None:
        return psycopg.OperationalError("the connection was lost")
    return psycopg.errors.error_from_result(result)


def _fields(row: bytes) -> list[bytes]:
    """The fields of a row in COPY's form, an empty one for null."""
    fields, at = [], 2
    while at < len(row):
        size = max(0, _length(row, at)[0])
        fields.append(row[at + 4 : at + 4 + size])
        at += 4 + size
    return fields


def disagreement(kept: tuple[int, bytes] | None, walked: tuple[int, bytes] | None) -> str:
    """What a stream's head says beside its last event."""
    return f"the stream's head says {_text(kept)}, its last event is {_text(walked)}"


def _text(head: tuple[int, bytes] | None) -> str:
    return "nothing" if head is None else f"{head[0]} with hash {head[1].hex()}"
