"""S: a file of shuffles is read strictly and compared with what comes of its seeds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.handfile import HandFileError, check_shuffles, holds_shuffles, parse_shuffles
from tests.domain.handfile.samples import PLAYED, REMOVED, VECTORS, changed

FILE: dict[str, Any] = json.loads((VECTORS / "shuffle.json").read_bytes())


def test_s_the_rulebooks_shuffles_hold() -> None:
    data = (VECTORS / "shuffle.json").read_bytes()
    assert holds_shuffles(data)
    assert not holds_shuffles(changed(PLAYED, "stake", 1))
    assert not holds_shuffles(b"{")
    assert check_shuffles(parse_shuffles(data)) == ()


@pytest.mark.parametrize(
    ("path", "value", "field", "clause"),
    [
        ("hmac_drbg.nonce", "00" * 16, "hmac_drbg.second_output", "S3"),
        ("vectors[0].commitment", "00" * 32, "vectors[0].commitment", "S2"),
        ("vectors[0].first_dealer", 2, "vectors[0].first_dealer", "T14"),
        ("vectors[1].deals[0].stream_start", "00" * 32, "vectors[1].deals[0].stream_start", "S3"),
        ("vectors[1].deals[0].decks.52[0]", "2s", "vectors[1].deals[0].decks.52", "S5"),
        ("vectors[1].deals[0].decks.32", [], "vectors[1].deals[0].decks.32", "S5"),
    ],
)
def test_s_what_does_not_come_of_the_seeds_is_named(path: str, value: Any, field: str, clause: str) -> None:
    (found,) = check_shuffles(parse_shuffles(changed(FILE, path, value)))
    assert found.field == field
    assert found.message.endswith(f" by {clause}")


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("format", "khrap-shuffle/2", "format"),
        ("vectors", REMOVED, "vectors"),
        ("vectors[0].server_seed", "00", "vectors[0].server_seed"),
        ("vectors[0].server_seed", "zz" * 32, "vectors[0].server_seed"),
        ("vectors[0].client_seeds", [], "vectors[0].client_seeds"),
        ("vectors[0].client_seeds[0]", "abc", "vectors[0].client_seeds[0]"),
        ("vectors[0].client_seeds[0]", "ab" * 65, "vectors[0].client_seeds[0]"),
        ("vectors[0].deals[0].deal_no", 0, "vectors[0].deals[0].deal_no"),
        ("vectors[0].deals[0].decks.40", [], "vectors[0].deals[0].decks.40"),
        ("vectors[0].seed", "", "vectors[0].seed"),
        ("hmac_drbg.bytes", 100, "hmac_drbg.bytes"),
    ],
)
def test_h5_a_wrong_field_of_a_shuffle_is_named(path: str, value: Any, field: str) -> None:
    with pytest.raises(HandFileError) as raised:
        parse_shuffles(changed(FILE, path, value))
    assert raised.value.field == field


def test_h5_a_file_that_is_no_json_or_says_a_thing_twice_is_refused() -> None:
    for data in (b"", b"[]", b'{"format": "khrap-shuffle/1", "vectors": [], "vectors": []}'):
        with pytest.raises(HandFileError):
            parse_shuffles(data)
