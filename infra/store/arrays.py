"""PostgreSQL's binary form of one-dimensional arrays without nulls.

psycopg builds them too, element by element through its adapters: four times as slow, and on the write path that would
be a sixth of all the work there is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

INT2, INT4, INT8, TEXT, BYTEA, UUID = 21, 23, 20, 25, 17, 2950

_header = struct.Struct(">iiiii").pack
_length = struct.Struct(">i").pack
_LENGTHS = [_length(length) for length in range(4096)]
_UUID_LENGTH = _length(16)


class Binary(bytes):
    """A parameter in PostgreSQL's binary form already; the query says its type by a cast."""

    __slots__ = ()


def int2s(values: Sequence[int]) -> Binary:
    """smallint[]."""
    return _integers(INT2, 2, struct.pack(f">{len(values)}h", *values))


def int4s(values: Sequence[int]) -> Binary:
    """int[]."""
    return _integers(INT4, 4, struct.pack(f">{len(values)}i", *values))


def int8s(values: Sequence[int]) -> Binary:
    """bigint[]."""
    return _integers(INT8, 8, struct.pack(f">{len(values)}q", *values))


def texts(values: Sequence[str]) -> Binary:
    """text[]."""
    return Binary(_header(1, 0, TEXT, len(values), 1) + b"".join([_text(value) for value in values]))


def blobs(values: Sequence[bytes]) -> Binary:
    """bytea[]."""
    elements = [
        piece
        for value in values
        for piece in (_LENGTHS[len(value)] if len(value) < 4096 else _length(len(value)), value)
    ]
    return Binary(_header(1, 0, BYTEA, len(values), 1) + b"".join(elements))


def hashes(values: Sequence[bytes]) -> Binary:
    """bytea[], of 32 bytes each."""
    return Binary(_header(1, 0, BYTEA, len(values), 1) + _LENGTHS[32] + _LENGTHS[32].join(values))


def uuids(values: Sequence[bytes]) -> Binary:
    """uuid[], of 16 bytes each."""
    return Binary(_header(1, 0, UUID, len(values), 1) + _UUID_LENGTH + _UUID_LENGTH.join(values))


@lru_cache(maxsize=65_536)
def _text(value: str) -> bytes:
    """An element; the same streams and types come again and again."""
    encoded = value.encode()
    return _length(len(encoded)) + encoded


def _integers(oid: int, size: int, packed: bytes) -> Binary:
    """Each integer after its length. The bytes of all of them are dealt out by stride: no loop over the elements."""
    count = len(packed) // size
    elements = bytearray((_LENGTHS[size] + bytes(size)) * count)
    for byte in range(size):
        elements[4 + byte :: 4 + size] = packed[byte::size]
    return Binary(_header(1, 0, oid, count, 1) + elements)
