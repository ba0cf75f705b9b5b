"""A checkpoint: what the log was at one moment, in one signed hash. Source: DESIGN "Audit".

    sealed hash = SHA-256("khrap-sealed/1" || 0x00 || for each part with events: u16 part || u64 size || root)
    hash = SHA-256("khrap-checkpoint/1" || 0x00 || u64 number || lp(at) || previous hash (32 bytes, zeros before 1) ||
                   u16 parts || sealed hash || public key)

signed with Ed25519. `root` is that of the part's tree (`infra.store.merkle`), `at` RFC 3339 UTC, lp a u16 length before
the bytes, all numbers big-endian.
"""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta, Struct

from infra.clock import from_rfc3339, rfc3339
from infra.store.chain import lp

FORMAT = "khrap-checkpoint/1"
_sealed_part = struct.Struct(">HQ32s")


class CheckpointError(ValueError):
    """Bytes that hold no checkpoint: what is wrong, and what would be right."""


class SealedPart(Struct, frozen=True, gc=False):
    """A part's tree: its size, at least 1, and its root."""

    part: int
    size: int
    root: bytes


class Checkpoint(Struct, frozen=True, kw_only=True):
    """Checkpoint `number`, from 1. `sealed` are the parts that hold events, ascending; `parts` is how many there are.

    `previous` is the hash of the checkpoint before, `key` the public key (32 bytes) that the signature is for.
    """

    number: int
    at_ms: int
    previous: bytes
    parts: int
    sealed: tuple[SealedPart, ...]
    key: bytes
    signature: bytes = b""

    @property
    def sealed_hash(self) -> bytes:
        """The hash over all parts."""
        return hash_of_sealed(pack(self.sealed))

    @property
    def hash(self) -> bytes:
        """What is signed."""
        return checkpoint_hash(self.number, self.at_ms, self.previous, self.parts, self.sealed_hash, self.key)

    def size_of(self, part: int) -> int:
        """How many events of a part it seals."""
        return next((each.size for each in self.sealed if each.part == part), 0)

    def is_signed(self) -> bool:
        """Whether the signature is that of its key."""
        return is_signed(self.key, self.signature, self.hash)


def hash_of_sealed(packed: bytes) -> bytes:
    """The hash over all parts, packed."""
    return sha256(b"khrap-sealed/1\x00" + packed).digest()


def checkpoint_hash(number: int, at_ms: int, previous: bytes, parts: int, sealed_hash: bytes, key: bytes) -> bytes:
    """The hash of a checkpoint, see above."""
    begin = b"khrap-checkpoint/1\x00" + number.to_bytes(8, "big") + lp(rfc3339(at_ms).encode())
    return sha256(begin + previous + parts.to_bytes(2, "big") + sealed_hash + key).digest()


def is_signed(key: bytes, signature: bytes, hash_: bytes) -> bool:
    """Whether `signature` is the key's under this hash."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, hash_)
    except (InvalidSignature, ValueError):
        return False
    return True


def signed(checkpoint: Checkpoint, key: Ed25519PrivateKey) -> Checkpoint:
    """The checkpoint with its signature."""
    return msgspec.structs.replace(checkpoint, signature=key.sign(checkpoint.hash))


def public_key(key: Ed25519PrivateKey) -> bytes:
    """The 32 bytes of the public half."""
    return key.public_key().public_bytes_raw()


def public_pem(key: bytes) -> str:
    """A public key in PEM."""
    return (
        Ed25519PublicKey.from_public_bytes(key)
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def pack(sealed: tuple[SealedPart, ...]) -> bytes:
    """The parts as they are hashed and stored, 42 bytes each."""
    return b"".join([_sealed_part.pack(each.part, each.size, each.root) for each in sealed])


def unpack(packed: bytes) -> tuple[SealedPart, ...]:
    """The parts of packed bytes. Raises CheckpointError."""
    if len(packed) % _sealed_part.size:
        raise CheckpointError(f"{len(packed)} bytes are not {_sealed_part.size} for each part")
    return tuple([SealedPart(*each) for each in _sealed_part.iter_unpack(packed)])


# --- as JSON

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64, description="32 bytes, hex")]
Count = Annotated[int, Meta(ge=1, le=2**53 - 1)]


class SealedPartDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tree of a part (RFC 6962): how many events it holds, and its root."""

    part: Annotated[int, Meta(ge=0, le=32_766)]
    size: Count
    root: Hash


class CheckpointHead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A checkpoint without its parts, which `sealed_hash` stands for; `hash` is what `key` (Ed25519) signed.

    `previous` is the hash of the checkpoint before, zeros before the first.
    """

    format: Literal["khrap-checkpoint/1"] = "khrap-checkpoint/1"
    number: Count
    at: Annotated[str, Meta(min_length=24, max_length=24, description="RFC 3339 UTC with milliseconds")]
    previous: Hash
    parts: Annotated[int, Meta(ge=1, le=32_767)]
    sealed_hash: Hash
    hash: Hash
    key: Hash
    signature: Annotated[str, Meta(pattern="^[0-9a-f]{128}$", max_length=128, description="64 bytes, hex")]


class CheckpointDocument(CheckpointHead, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole checkpoint: `sealed` are the parts that hold events, ascending."""

    sealed: tuple[SealedPartDocument, ...]


def head_document(checkpoint: Checkpoint) -> CheckpointHead:
    """Without its parts, as JSON has it."""
    return CheckpointHead(**_members(checkpoint))


def document(checkpoint: Checkpoint) -> CheckpointDocument:
    """As JSON has it."""
    sealed = [SealedPartDocument(part=p.part, size=p.size, root=p.root.hex()) for p in checkpoint.sealed]
    return CheckpointDocument(sealed=tuple(sealed), **_members(checkpoint))


def _members(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "number": checkpoint.number,
        "at": rfc3339(checkpoint.at_ms),
        "previous": checkpoint.previous.hex(),
        "parts": checkpoint.parts,
        "sealed_hash": checkpoint.sealed_hash.hex(),
        "hash": checkpoint.hash.hex(),
        "key": checkpoint.key.hex(),
        "signature": checkpoint.signature.hex(),
    }


def read_document(data: bytes) -> CheckpointHead:
    """One checkpoint, with or without its parts, whose hashes and signature hold. Raises CheckpointError."""
    try:
        head: CheckpointHead = msgspec.json.decode(
            data, type=CheckpointDocument if b'"sealed":' in data else CheckpointHead
        )
        at_ms = from_rfc3339(head.at)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise CheckpointError(f"no checkpoint (khrap-checkpoint/1): {error}") from None
    name = f"checkpoint {head.number}"
    if isinstance(head, CheckpointDocument):
        sealed = tuple([SealedPart(p.part, p.size, bytes.fromhex(p.root)) for p in head.sealed])
        if hash_of_sealed(pack(sealed)).hex() != head.sealed_hash:
            raise CheckpointError(f"{name}: `sealed_hash` is not that of its parts")
    previous, sealed_hash, key = (bytes.fromhex(each) for each in (head.previous, head.sealed_hash, head.key))
    if checkpoint_hash(head.number, at_ms, previous, head.parts, sealed_hash, key).hex() != head.hash:
        raise CheckpointError(f"{name}: `hash` is not that of its fields")
    if not is_signed(key, bytes.fromhex(head.signature), bytes.fromhex(head.hash)):
        raise CheckpointError(f"{name}: the signature is not that of its key")
    return head


def read_kept(data: bytes) -> list[CheckpointHead]:
    """Checkpoints that somebody kept: one, or one a line, or an answer of the API's list. Raises CheckpointError."""
    try:
        return [read_document(piece) for piece in _pieces(data)]
    except RecursionError:
        raise CheckpointError("no checkpoint (khrap-checkpoint/1): it is nested too deep") from None


def _pieces(data: bytes) -> list[bytes]:
    """The JSON of each checkpoint that is in it, at least one. Raises CheckpointError."""
    try:
        whole = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        whole = None
    if isinstance(whole, dict):
        listed = whole.get("checkpoints", [whole])
        if not isinstance(listed, list):
            raise CheckpointError("`checkpoints` is not a list of checkpoints (khrap-checkpoint/1)")
        pieces = [msgspec.json.encode(each) for each in listed]
    else:
        pieces = [line for line in data.splitlines() if line.strip()]
    if not pieces:
        raise CheckpointError("no checkpoint is in it")
    return pieces
