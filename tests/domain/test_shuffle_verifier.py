"""H4: the stand-alone verifier, run as an outsider would: a copy of the file, without the project."""

import hmac
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import cards, shuffle
from tests.domain.hands import EXAMPLES, unhurried

SCRIPT = Path(cards.__file__).with_name("shuffle_verifier.py")
FOLDER = Path(__file__).parents[1] / "vectors"
VECTORS = json.loads((FOLDER / "shuffle.json").read_bytes())
HANDS = [hand for game in ("khrap", "frap", "khrap5") for hand in json.loads((FOLDER / f"{game}.json").read_bytes())]
SHUFFLED_HANDS = [hand for hand in HANDS if "shuffle" in hand]
assert SHUFFLED_HANDS
verifier_deck = runpy.run_path(str(SCRIPT))["deck"]


def hand_file(each: dict[str, Any], size: int = 36) -> dict[str, Any]:
    """The fields of a hand file that bear on the shuffle, with the vector's deals that follow one another from 1."""
    deals = [deal["decks"][str(size)] for number, deal in enumerate(each["deals"], 1) if deal["deal_no"] == number]
    seats = [{"seat": seat, "player": f"p{seat}", "purse": 1} for seat in range(len(each["client_seeds"]))]
    proof = {field: each[field] for field in ("server_seed", "hand_id", "commitment", "client_seeds")}
    return {"format": "khrap-hand/1", "seats": seats, "deals": deals, "shuffle": proof}


def test_s3_s5_the_readme_shows_the_function_that_is_there() -> None:
    script = SCRIPT.read_text()
    function = script[script.index("def deck(") : script.index("\n\nif __name__")].strip()
    assert f"```python\n{function}\n```" in Path(__file__).parents[2].joinpath("README.md").read_text()


@pytest.fixture
def hand() -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(hand_file(VECTORS["vectors"][0])))
    assert len(copy["deals"]) == 3
    return copy


def verify(tmp_path: Path, text: str | bytes) -> tuple[int, str, str]:
    script = shutil.copy(SCRIPT, tmp_path / "verifier.py")
    content = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run([sys.executable, "-I", script], input=content, capture_output=True, cwd=tmp_path, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_verifier_is_a_page_of_standard_library() -> None:
    lines = SCRIPT.read_text().splitlines()
    assert len(lines) <= 40
    assert [line for line in lines if "import" in line] == [lines[2]]
    assert lines[2].startswith("import hashlib, hmac, json, sys  #")


@pytest.mark.parametrize("size", [32, 36, 52])
@pytest.mark.parametrize("each", VECTORS["vectors"], ids=lambda each: each["name"])
def test_h4_the_vectors_hold(tmp_path: Path, each: dict[str, Any], size: int) -> None:
    told = f"ok: commitment {each['commitment']}, 0 cards hidden\n"
    assert verify(tmp_path, json.dumps(hand_file(each, size))) == (0, told, "")


@pytest.mark.parametrize("each", SHUFFLED_HANDS, ids=lambda each: each["name"])
def test_h4_the_rulebooks_hands_that_show_their_shuffle_hold(tmp_path: Path, each: dict[str, Any]) -> None:
    told = f"ok: commitment {each['shuffle']['commitment']}, 0 cards hidden\n"
    assert verify(tmp_path, json.dumps(each)) == (0, told, "")


def test_h4_it_runs_where_it_lies_beside_the_other_modules(hand: dict[str, Any]) -> None:
    done = subprocess.run([sys.executable, SCRIPT], input=json.dumps(hand).encode(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_h4_two_cards_swapped_in_one_deal(tmp_path: Path, hand: dict[str, Any]) -> None:
    deal = hand["deals"][1]
    deal[4], deal[35] = deal[35], deal[4]
    told = "deal 2, card 5: '8d' is not 8h\ndeal 2, card 36: '8h' is not 8d\n"
    assert verify(tmp_path, json.dumps(hand)) == (1, told, "")


def test_h4_what_is_no_card_differs(tmp_path: Path, hand: dict[str, Any]) -> None:
    hand["deals"][2][0] = "король\ud800"
    code, told, _ = verify(tmp_path, json.dumps(hand))
    assert (code, told) == (1, "deal 3, card 1: '\\u043a\\u043e\\u0440\\u043e\\u043b\\u044c\\ud800' is not 6d\n")


def test_h4_another_deal_of_the_same_hand(tmp_path: Path, hand: dict[str, Any]) -> None:
    del hand["deals"][0]
    code, told, _ = verify(tmp_path, json.dumps(hand))
    assert (code, told.splitlines()[0]) == (1, "deal 1, card 1: '9h' is not 6c")


def test_s2_a_seed_that_was_not_committed_to(tmp_path: Path, hand: dict[str, Any]) -> None:
    hand["shuffle"]["commitment"] = "00" * 32
    assert verify(tmp_path, json.dumps(hand)) == (1, "commitment\n", "")


def test_s3_client_seeds_count_in_seat_order(tmp_path: Path, hand: dict[str, Any]) -> None:
    hand["shuffle"]["client_seeds"].reverse()
    code, told, _ = verify(tmp_path, json.dumps(hand))
    assert code == 1
    assert told.startswith("deal 1, card 1: '6c' is not ")


def test_h7_cards_that_are_not_shown_are_counted(tmp_path: Path, hand: dict[str, Any]) -> None:
    hand["deals"][0][8:] = [None] * 28
    code, told, _ = verify(tmp_path, json.dumps(hand))
    assert (code, told) == (0, f"ok: commitment {hand['shuffle']['commitment']}, 28 cards hidden\n")
    hand["deals"][0][0] = "As"
    assert verify(tmp_path, json.dumps(hand))[:2] == (1, "deal 1, card 1: 'As' is not 6c\n")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("deals", []),
        ("deals", {}),
        ("deals", None),
        ("deals", [["As"] * 35]),
        ("deals", [[]]),
        ("deals", ["A" * 36]),
        ("deals", [{f"{n}": "As" for n in range(36)}]),
        ("seats", []),
        ("seats", 4),
        ("shuffle", None),
        ("shuffle", []),
        ("server_seed", "00" * 31),
        ("server_seed", "0x" + "00" * 31),
        ("server_seed", 7),
        ("hand_id", "018f0000-0000-7000-8000-000000000001"),
        ("hand_id", None),
        ("commitment", None),
        ("client_seeds", ["", "", ""]),
        ("client_seeds", "616263"),
        ("client_seeds", ["61", "62", "63", None]),
        ("client_seeds", ["61", "62", "63", "00" * 65536]),
    ],
)
def test_h5_a_field_that_cannot_be_used(tmp_path: Path, hand: dict[str, Any], field: str, value: object) -> None:
    (hand if field in hand else hand["shuffle"])[field] = value
    code, told, error = verify(tmp_path, json.dumps(hand))
    assert (code, told) == (2, "")
    assert error.startswith("unusable: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", "[" * 100_000, b"\xff\xfe\x00"])
def test_h5_a_file_that_is_no_hand(tmp_path: Path, text: str | bytes) -> None:
    code, told, error = verify(tmp_path, text)
    assert (code, told) == (2, "")
    assert error.startswith("unusable: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("field", ["deals", "seats", "shuffle", "server_seed", "hand_id", "commitment", "client_seeds"])
def test_h5_a_field_that_is_missing_is_named(tmp_path: Path, hand: dict[str, Any], field: str) -> None:
    del (hand if field in hand else hand["shuffle"])[field]
    assert verify(tmp_path, json.dumps(hand)) == (
        2,
        "",
        f"unusable: no hand file with its shuffle on standard input: KeyError('{field}')\n",
    )


def seeds(server_seed: bytes, hand_id: bytes, deal_no: int, clients: list[bytes]) -> bytes:
    texts = [b"khrap-shuffle/1", *clients]
    first, *rest = [len(text).to_bytes(2, "big") + text for text in texts]
    return server_seed + hand_id + deal_no.to_bytes(8, "big") + first + bytes([len(clients)]) + b"".join(rest)


@unhurried
@settings(max_examples=EXAMPLES or 100, deadline=None)
@given(
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.integers(min_value=1, max_value=2**64 - 1),
    st.lists(st.binary(max_size=64), min_size=2, max_size=12),
    st.sampled_from([32, 36, 52]),
)
def test_s5_both_readings_agree(
    server_seed: bytes, hand_id: bytes, deal_no: int, clients: list[bytes], size: int
) -> None:
    deck = shuffle.deck(server_seed, hand_id, deal_no, clients, size)
    assert tuple(verifier_deck(seeds(server_seed, hand_id, deal_no, clients), size)) == deck


@pytest.mark.parametrize("size", [36, 52])
def test_s3_both_readings_agree_past_the_first_256_bytes(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A shuffle comes there once in ages, so a digest whose bytes are mostly 255 stands in for the real one."""
    made = 0
    real = hmac.digest

    def sparse(key: bytes, message: bytes, algorithm: str) -> bytes:
        nonlocal made
        made += 1
        return bytes(byte if byte % 16 == 0 else 255 for byte in real(key, message, algorithm))

    monkeypatch.setattr(shuffle, "digest", sparse)
    monkeypatch.setattr(hmac, "digest", sparse)
    deck = shuffle.deck(bytes(32), bytes(16), 1, [b"", b""], size)
    assert made > 4 + 8 + 2
    assert tuple(verifier_deck(seeds(bytes(32), bytes(16), 1, [b"", b""]), size)) == deck
