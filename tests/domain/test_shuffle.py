"""S: the shuffle against the rulebook's vectors, and what makes it fair."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import cards, shuffle
from tests.domain.hands import EXAMPLES, unhurried

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "shuffle.json").read_bytes())
SETS = VECTORS["vectors"]
DEALS = [(each, deal) for each in SETS for deal in each["deals"]]

server_seeds = st.binary(min_size=32, max_size=32)
hand_ids = st.binary(min_size=16, max_size=16)
deal_nos = st.integers(min_value=1, max_value=2**64 - 1)
client_seeds = st.lists(st.binary(max_size=64), min_size=2, max_size=12)
sizes = st.sampled_from([32, 36, 52])


def seeds_of(each: dict[str, Any]) -> tuple[bytes, bytes, list[bytes]]:
    return (
        bytes.fromhex(each["server_seed"]),
        bytes.fromhex(each["hand_id"]),
        [bytes.fromhex(seed) for seed in each["client_seeds"]],
    )


def test_s3_the_vector_of_nist_in_the_rulebooks_file() -> None:
    case = VECTORS["hmac_drbg"]
    blocks = shuffle.hmac_drbg(bytes.fromhex(case["entropy_input"] + case["nonce"]), case["bytes"])
    assert b"".join(islice(blocks, 4, 8)).hex() == case["second_output"]


@pytest.mark.parametrize("each", SETS, ids=lambda each: each["name"])
def test_s2_the_commitment_of_the_vectors(each: dict[str, Any]) -> None:
    server_seed, hand_id, _ = seeds_of(each)
    assert shuffle.commitment(server_seed, hand_id).hex() == each["commitment"]


@pytest.mark.parametrize("each", SETS, ids=lambda each: each["name"])
def test_t14_the_first_dealer_of_the_vectors(each: dict[str, Any]) -> None:
    assert shuffle.first_dealer(*seeds_of(each)) == each["first_dealer"]


@pytest.mark.parametrize(("each", "deal"), DEALS)
def test_s3_the_stream_of_the_vectors(each: dict[str, Any], deal: dict[str, Any]) -> None:
    server_seed, hand_id, clients = seeds_of(each)
    stream = shuffle.stream(server_seed, hand_id, deal["deal_no"], clients)
    assert bytes(islice(stream, 32)).hex() == deal["stream_start"]


@pytest.mark.parametrize(("each", "deal"), DEALS)
def test_s5_the_decks_of_the_vectors(each: dict[str, Any], deal: dict[str, Any]) -> None:
    server_seed, hand_id, clients = seeds_of(each)
    assert sorted(deal["decks"]) == ["32", "36", "52"]
    for size, expected in deal["decks"].items():
        assert shuffle.deck(server_seed, hand_id, deal["deal_no"], clients, int(size)) == tuple(expected)


@unhurried
@settings(max_examples=EXAMPLES or 100, deadline=None)
@given(server_seeds, hand_ids, deal_nos, client_seeds, sizes)
def test_s5_a_shuffle_is_a_permutation_of_the_deck(
    server_seed: bytes, hand_id: bytes, deal_no: int, clients: list[bytes], size: int
) -> None:
    shuffled = shuffle.deck(server_seed, hand_id, deal_no, clients, size)
    assert len(shuffled) == size
    assert set(shuffled) == set(cards.deck(size))


@unhurried
@settings(max_examples=EXAMPLES or 50, deadline=None)
@given(server_seeds, hand_ids, deal_nos.filter(lambda deal_no: deal_no > 1), client_seeds)
def test_s3_each_input_bears_on_the_deck(
    server_seed: bytes, hand_id: bytes, deal_no: int, clients: list[bytes]
) -> None:
    def flipped(text: bytes) -> bytes:
        return text[:-1] + bytes([text[-1] ^ 1])

    last = clients[-1] + b"\x00" if len(clients[-1]) < 64 else clients[-1][:-1]
    moved = (
        [clients[0] + clients[1], b"", *clients[2:]] if clients[1] and len(clients[0] + clients[1]) <= 64 else clients
    )
    inputs = {
        (server_seed, hand_id, deal_no, tuple(clients)),
        (flipped(server_seed), hand_id, deal_no, tuple(clients)),
        (server_seed, flipped(hand_id), deal_no, tuple(clients)),
        (server_seed, hand_id, deal_no - 1, tuple(clients)),
        (server_seed, hand_id, deal_no, (*clients[:-1], last)),
        (server_seed, hand_id, deal_no, (*clients, b"")),
        (server_seed, hand_id, deal_no, tuple(moved)),
    }
    assert len({shuffle.deck(*each, 52) for each in inputs}) == len(inputs)


@pytest.mark.parametrize("n", range(1, 257))
def test_s4_each_index_has_as_many_bytes_as_the_others(n: int) -> None:
    stream = iter(range(256))
    drawn = [shuffle._draw_below(n, stream) for _ in range(256 // n * n)]
    assert all(drawn.count(index) == 256 // n for index in range(n))
    with pytest.raises(StopIteration):
        shuffle._draw_below(n, stream)


@pytest.mark.parametrize(("size", "squares"), [(32, 99942), (36, 123060), (52, 265706)])
def test_s5_each_card_comes_to_each_place_as_often(size: int, squares: int) -> None:
    """In 100 × size decks each card is expected 100 times at each place; the sum of squared deviations is recorded.

    A card is at one place and a place holds one card, so that `squares × (size - 1) / decks` is chi-square with
    (size - 1)² degrees of freedom. It lies within three standard deviations of its mean: what chance gives.
    """
    decks = 100 * size
    index = {card: number for number, card in enumerate(cards.deck(size))}
    counts = [[0] * size for _ in range(size)]
    for deal_no in range(1, decks + 1):
        for place, card in enumerate(shuffle.deck(bytes(range(32)), bytes(16), deal_no, [b"", b""], size)):
            counts[place][index[card]] += 1
    assert sum((count - 100) ** 2 for row in counts for count in row) == squares
    freedom = (size - 1) ** 2
    assert abs(squares * (size - 1) / decks - freedom) < 3 * (2 * freedom) ** 0.5


def test_t14_each_player_is_first_dealer_as_often() -> None:
    counts = [0] * 5
    for hand in range(5000):
        counts[shuffle.first_dealer(bytes(32), hand.to_bytes(16, "big"), [b""] * 5)] += 1
    assert counts == [983, 1020, 977, 992, 1028]


@pytest.mark.parametrize(
    ("server_seed", "hand_id", "deal_no", "clients"),
    [
        (bytes(31), bytes(16), 1, [b"", b""]),
        (bytes(32), bytes(17), 1, [b"", b""]),
        (bytes(32), bytes(16), 0, [b"", b""]),
        (bytes(32), bytes(16), 1, [b"", bytes(65)]),
    ],
)
def test_s1_inputs_of_another_length_are_our_own_mistake(
    server_seed: bytes, hand_id: bytes, deal_no: int, clients: list[bytes]
) -> None:
    with pytest.raises(AssertionError):
        shuffle.deck(server_seed, hand_id, deal_no, clients, 36)
