"""A file of shuffles `khrap-shuffle/1`: seeds with what must come of them, as in the rulebook's vectors. Source: S."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from domain import shuffle
from domain.cards import Card
from domain.handfile.explaining import explained, refuse_duplicate_keys
from domain.handfile.file import Finding, HandFileError
from domain.handfile.shapes import Strict
from domain.money import MAX_AMOUNT
from domain.seeds import hand_bytes

FORMAT: Final = "khrap-shuffle/1"

Hex = Annotated[str, Meta(pattern=r"^([0-9a-f]{2})*\Z")]


class Generator(Strict, frozen=True, kw_only=True):
    """S3: a test of the generator itself: the second of two outputs of `bytes` bytes."""

    name: str
    entropy_input: Hex
    nonce: Hex
    bytes: Annotated[int, Meta(gt=0, le=1024, multiple_of=32)]
    second_output: Hex


class Decks(Strict, frozen=True, kw_only=True, rename={"of_32": "32", "of_36": "36", "of_52": "52"}):
    """S5: a deal's decks by their size, those that are given."""

    of_32: tuple[Card, ...] | None = None
    of_36: tuple[Card, ...] | None = None
    of_52: tuple[Card, ...] | None = None


class Deal(Strict, frozen=True, kw_only=True):
    """S3 to S5: the first bytes of a deal's stream, and its decks."""

    deal_no: Annotated[int, Meta(ge=1, le=MAX_AMOUNT)]
    stream_start: Hex
    decks: Decks


class Shuffle(Strict, frozen=True, kw_only=True):
    """S1, S2, T14: seeds in seat order, the commitment, the first dealer as an index into as many players."""

    name: str
    server_seed: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    hand_id: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    client_seeds: Annotated[tuple[Annotated[Hex, Meta(max_length=128)], ...], Meta(min_length=1, max_length=12)]
    commitment: Hex
    first_dealer: int
    deals: tuple[Deal, ...]


class ShuffleFile(Strict, frozen=True, kw_only=True):
    """The whole file."""

    format: Literal["khrap-shuffle/1"]
    hmac_drbg: Generator | None = None
    vectors: tuple[Shuffle, ...]


class _Format(Struct, frozen=True):
    format: str = ""


def holds_shuffles(data: bytes) -> bool:
    """Whether this is JSON that says it is a file of shuffles."""
    try:
        return msgspec.json.decode(data, type=_Format).format == FORMAT
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def parse_shuffles(data: bytes) -> ShuffleFile:
    """The file that the bytes of a JSON object hold. Raises HandFileError, which names the field."""
    try:
        file = msgspec.json.decode(data, type=ShuffleFile)
    except msgspec.ValidationError as error:
        raise explained(str(error), ShuffleFile) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HandFileError("", f"not a JSON object: {error}") from None
    refuse_duplicate_keys(data)
    return file


def check_shuffles(file: ShuffleFile) -> tuple[Finding, ...]:
    """S1 to S5, T14: what does not come of the seeds."""
    found = list(_generator("hmac_drbg", file.hmac_drbg)) if file.hmac_drbg is not None else []
    for i, each in enumerate(file.vectors):
        found += _shuffle(f"vectors[{i}]", each)
    return tuple(found)


def _generator(field: str, given: Generator) -> Iterator[Finding]:
    blocks = shuffle.hmac_drbg(bytes.fromhex(given.entropy_input + given.nonce), given.bytes)
    output = b"".join(islice(blocks, given.bytes // 32, 2 * given.bytes // 32)).hex()
    yield from _differs(f"{field}.second_output", given.second_output, output, "S3")


def _shuffle(field: str, given: Shuffle) -> Iterator[Finding]:
    server_seed, hand_id = bytes.fromhex(given.server_seed), hand_bytes(given.hand_id)
    seeds = [bytes.fromhex(seed) for seed in given.client_seeds]
    yield from _differs(f"{field}.commitment", given.commitment, shuffle.commitment(server_seed, hand_id).hex(), "S2")
    dealer = shuffle.first_dealer(server_seed, hand_id, seeds)
    yield from _differs(f"{field}.first_dealer", given.first_dealer, dealer, "T14")
    for i, deal in enumerate(given.deals):
        at = f"{field}.deals[{i}]"
        stream = shuffle.stream(server_seed, hand_id, deal.deal_no, seeds)
        start = bytes(islice(stream, len(deal.stream_start) // 2)).hex()
        yield from _differs(f"{at}.stream_start", deal.stream_start, start, "S3")
        for size, cards in ((32, deal.decks.of_32), (36, deal.decks.of_36), (52, deal.decks.of_52)):
            if cards is not None:
                right = shuffle.deck(server_seed, hand_id, deal.deal_no, seeds, size)
                yield from _differs(f"{at}.decks.{size}", " ".join(cards), " ".join(right), "S5")


def _differs(field: str, theirs: object, ours: object, clause: str) -> Iterator[Finding]:
    if theirs != ours:
        yield Finding(field, f"{theirs} in the file, {ours} by {clause}")
