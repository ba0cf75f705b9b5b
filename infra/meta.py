"""An event's meta: when, who, and the digest of the request. And the ids that make a repeat a duplicate.

Source: DESIGN "Streams and events", "The event store".
"""

from __future__ import annotations

import hmac
from hashlib import sha256

import msgspec
from msgspec import Struct

from infra.clock import from_rfc3339, rfc3339
from infra.store.chain import lp

PREFIX = b"khrap-cmd/1"


class Meta(Struct, frozen=True):
    """`at_ms` is the moment, milliseconds since 1970 UTC, stored as RFC 3339. `by` says whether a person, the clock
    or the steward acted; `request` is the HMAC (hex) of the request, see `request_digest`.
    """

    at_ms: int
    subject: str
    role: str
    by: str
    request: str


class _Stored(Struct, frozen=True):
    at: str
    subject: str
    role: str
    by: str
    request: str


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Stored)


def encode_meta(meta: Meta) -> bytes:
    """The stored bytes of `meta`."""
    return _encoder.encode(_Stored(rfc3339(meta.at_ms), meta.subject, meta.role, meta.by, meta.request))


def decode_meta(stored: bytes) -> Meta:
    """The meta of stored bytes. Raises msgspec.DecodeError or ValueError."""
    m = _decoder.decode(stored)
    return Meta(from_rfc3339(m.at), m.subject, m.role, m.by, m.request)


def recorded_at_ms(stored: bytes) -> int:
    """When an event was recorded, from its stored meta, which begins with `{"at":"…"`."""
    return from_rfc3339(stored[7:31].decode())


def recorded_by(stored: bytes) -> tuple[int, str]:
    """When an event was recorded, and the subject. Raises msgspec.DecodeError or ValueError.

    Read where they stand in what `encode_meta` writes: a quarter of the time of decoding all of it.
    """
    end = stored.find(b'"', 44)
    if stored[:7] != b'{"at":"' or stored[31:44] != b'","subject":"' or end < 0 or b"\\" in stored[44:end]:
        meta = decode_meta(stored)
        return meta.at_ms, meta.subject
    return from_rfc3339(stored[7:31].decode()), stored[44:end].decode()


def command_id(subject: str, stream: str, key: str) -> bytes:
    """16 bytes that name a command: the same caller, target stream and Idempotency-Key give the same."""
    joined = b"".join(lp(part) for part in (PREFIX, subject.encode(), stream.encode(), key.encode()))
    return sha256(joined).digest()[:16]


def request_digest(request_key: bytes, method: str, path: str, body: bytes) -> str:
    """The HMAC-SHA-256 (hex) of a request, under a key of its own: a plain digest of a discard could be guessed."""
    message = b"".join((method.encode(), b"\n", path.encode(), b"\n", body))
    return hmac.digest(request_key, message, "sha256").hex()
