"""Keys of a hand, what is written beside an event, and the ids that make a repeat a duplicate."""

from __future__ import annotations

import hashlib
import hmac

import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from infra.entropy import SeededEntropy
from infra.meta import Meta, command_id, decode_meta, encode_meta, recorded_at_ms, request_digest
from infra.sealing import Sealer

MASTER = bytes(range(32))
HAND = "0190a0b0-c0d0-7e0f-8000-000000000001"


def hkdf(info: bytes) -> bytes:
    """RFC 5869 with SHA-256, no salt, one block: by hand, so that an outsider's reckoning is ours."""
    extracted = hmac.digest(bytes(32), MASTER, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def test_a_hand_has_a_key_of_its_own_and_a_commitment_to_it() -> None:
    sealer = Sealer(MASTER, SeededEntropy("test"))
    key = hkdf(b"khrap-hand/1" + bytes.fromhex("0190a0b0c0d07e0f8000000000000001"))
    assert sealer.hand_key(HAND) == key
    assert sealer.key_commitment(HAND) == hashlib.sha256(b"khrap-key/1\x00" + key).digest()
    assert sealer.hand_key(HAND[:-1] + "2") != key


def test_an_outsider_opens_a_hand_with_its_key_alone() -> None:
    sealed = Sealer(MASTER, SeededEntropy("test")).seal(HAND, "table-x", 7, b'{"deck":["As"]}')
    place = (7).to_bytes(2, "big") + b"table-x" + (7).to_bytes(8, "big")
    text = AESGCM(hkdf(b"khrap-hand/1" + bytes.fromhex(HAND.replace("-", "")))).decrypt(sealed[:12], sealed[12:], place)
    assert text == b'{"deck":["As"]}'.ljust(192)


def test_the_same_text_is_never_sealed_twice_alike() -> None:
    sealer = Sealer(MASTER, SeededEntropy("test"))
    assert len({sealer.seal(HAND, "table-x", 7, b"{}") for _ in range(100)}) == 100


@given(st.integers(0, 4_102_444_799_999), *[st.text(max_size=64)] * 4)
def test_meta_comes_back_as_it_was(at_ms: int, subject: str, role: str, by: str, request: str) -> None:
    meta = Meta(at_ms=at_ms, subject=subject, role=role, by=by, request=request)
    stored = encode_meta(meta)
    assert decode_meta(stored) == meta
    assert recorded_at_ms(stored) == at_ms


def test_meta_is_stored_as_the_design_names_it() -> None:
    meta = Meta(at_ms=1_767_323_045_678, subject="anna", role="player", by="player", request="00ff")
    assert msgspec.json.decode(encode_meta(meta)) == {
        "at": "2026-01-02T03:04:05.678Z",
        "subject": "anna",
        "role": "player",
        "by": "player",
        "request": "00ff",
    }


def test_a_command_s_id_is_the_one_that_the_design_spells_out() -> None:
    parts = (b"khrap-cmd/1", b"anna", b"table-x", "ключ".encode())
    joined = b"".join(len(part).to_bytes(2, "big") + part for part in parts)
    assert command_id("anna", "table-x", "ключ") == hashlib.sha256(joined).digest()[:16]


@pytest.mark.parametrize(
    "other", [("boris", "table-x", "k"), ("anna", "table-y", "k"), ("anna", "table-x", "l"), ("annat", "able-x", "k")]
)
def test_another_caller_stream_or_key_is_another_command(other: tuple[str, str, str]) -> None:
    assert command_id(*other) != command_id("anna", "table-x", "k")


def test_a_request_s_digest_needs_the_key() -> None:
    key = Sealer(MASTER, SeededEntropy("test")).request_key
    assert key == hkdf(b"khrap-request/1")
    expected = hmac.new(key, b'POST\n/v1/tables/x/actions\n{"do":"pass"}', "sha256").hexdigest()
    assert request_digest(key, "POST", "/v1/tables/x/actions", b'{"do":"pass"}') == expected
