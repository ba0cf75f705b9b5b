"""S: the shuffle `khrap-shuffle/1`. Seeds in, decks out. `shuffle_verifier` reads the same clauses anew."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from hmac import digest
from itertools import chain
from typing import Final

from domain import cards
from domain.cards import Card

SERVER_SEED_BYTES: Final = 32
HAND_ID_BYTES: Final = 16
MAX_CLIENT_SEED_BYTES: Final = 64

_REQUEST_BYTES: Final = 256
_BLOCK_BYTES: Final = 32


def commitment(server_seed: bytes, hand_id: bytes) -> bytes:
    """S2: the 32 bytes that bind a table to the server seed of its next hand."""
    _check(server_seed, hand_id)
    return sha256(b"khrap-commit/1\x00" + hand_id + server_seed).digest()


def deck(
    server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes], size: int
) -> tuple[Card, ...]:
    """S5: the shuffled deck of 32, 36 or 52 cards, the first card dealt first.

    `deal_no` counts the hand's deals from 1; `client_seeds` holds one seed per dealt-in player in seat order, empty
    where none was given. ValueError for another size.
    """
    assert deal_no >= 1, deal_no
    shuffled = list(cards.deck(size))
    drawn = stream(server_seed, hand_id, deal_no, client_seeds)
    for last in range(size - 1, 0, -1):
        other = _draw_below(last + 1, drawn)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return tuple(shuffled)


def first_dealer(server_seed: bytes, hand_id: bytes, client_seeds: Sequence[bytes]) -> int:
    """T14: the first dealer by lot, an index into the dealt-in players in seat order, one client seed each."""
    return _draw_below(len(client_seeds), stream(server_seed, hand_id, 0, client_seeds))


def hmac_drbg(seed_material: bytes, request_bytes: int) -> Iterator[bytes]:
    """S3: the outputs of successive Generate calls of `request_bytes` each, in blocks of 32 bytes and without end.

    HMAC_DRBG with SHA-256, NIST SP 800-90A Rev. 1 §10.1.2, no reseed, no additional input; `seed_material` is entropy
    input, nonce and personalization string, joined. `request_bytes` is a multiple of 32.

    Blocks are made as they are read. A shuffle reads two of the eight of its first request as a rule, and a deck of 36
    takes 28 µs so, 54 µs with whole requests.
    """
    assert request_bytes > 0, request_bytes
    assert request_bytes % _BLOCK_BYTES == 0, request_bytes
    key, value = bytes(32), b"\x01" * 32
    for step in (b"\x00", b"\x01"):
        key = digest(key, value + step + seed_material, "sha256")
        value = digest(key, value, "sha256")
    while True:
        for _ in range(request_bytes // _BLOCK_BYTES):
            value = digest(key, value, "sha256")
            yield value
        key = digest(key, value + b"\x00", "sha256")
        value = digest(key, value, "sha256")


def stream(server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes]) -> Iterator[int]:
    """S3: the bytes of one deal; `deal_no` 0 is the lot of T14."""
    _check(server_seed, hand_id)
    assert all(len(seed) <= MAX_CLIENT_SEED_BYTES for seed in client_seeds)
    parts = [server_seed, hand_id, deal_no.to_bytes(8, "big"), _lp(b"khrap-shuffle/1"), bytes([len(client_seeds)])]
    material = b"".join(parts + [_lp(seed) for seed in client_seeds])
    return chain.from_iterable(hmac_drbg(material, _REQUEST_BYTES))


def _draw_below(n: int, stream: Iterator[int]) -> int:
    """S4: an index in 0..n-1, each as likely as the others, for n of 1 to 256."""
    assert 1 <= n <= 256, n
    limit = 256 - 256 % n
    byte = next(stream)
    while byte >= limit:
        byte = next(stream)
    return byte % n


def _check(server_seed: bytes, hand_id: bytes) -> None:
    """S1: fixed lengths, without which two inputs could read as one string of bytes."""
    assert len(server_seed) == SERVER_SEED_BYTES, len(server_seed)
    assert len(hand_id) == HAND_ID_BYTES, len(hand_id)


def _lp(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text
