"""S: the count of card and position tells an even shuffle from others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from domain import cards, shuffle
from domain.cards import Card
from infra.entropy import SeededEntropy
from services.cli import shuffling
from services.cli.entry import run

DEALS = 2_000


def naive(
    server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes], size: int
) -> tuple[Card, ...]:
    """The well-known slip: each card is swapped with any of the deck, not with one of those before it."""
    deck = list(cards.deck(size))
    drawn = shuffle.stream(server_seed, hand_id, deal_no, client_seeds)
    for place in range(size):
        other = shuffle._draw_below(size, drawn)
        deck[place], deck[other] = deck[other], deck[place]
    return tuple(deck)


def modulo(
    server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes], size: int
) -> tuple[Card, ...]:
    """S4 left out: a byte modulo n, so that small indices come more often."""
    deck = list(cards.deck(size))
    drawn = shuffle.stream(server_seed, hand_id, deal_no, client_seeds)
    for last in range(size - 1, 0, -1):
        other = next(drawn) % (last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def dealt_evenly(
    server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes], size: int
) -> tuple[Card, ...]:
    """A deck that only turns round: each card is equally often at each place, too much so for chance."""
    dealt_evenly.turned += 1  # type: ignore[attr-defined]
    at = dealt_evenly.turned % size  # type: ignore[attr-defined]
    return cards.deck(size)[at:] + cards.deck(size)[:at]


dealt_evenly.turned = 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", shuffling.SIZES)
def test_s5_the_shuffle_is_even(size: int) -> None:
    """The seeds are the same in every run, and so is the answer."""
    found = shuffling.evenness(size, DEALS, SeededEntropy(f"deck of {size}"), None)
    assert (found.size, found.deals, found.degrees_of_freedom) == (size, DEALS, (size - 1) ** 2)
    assert 0.01 < found.p < 0.99
    assert found.is_even


def test_s5_a_naive_shuffle_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "deck", naive)
    found = shuffling.evenness(36, DEALS, SeededEntropy("naive"), None)
    assert found.p < shuffling.LEVEL
    assert not found.is_even


def test_s4_the_slip_of_a_plain_modulo_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It favours some places by a fifth and less, which takes more deals to see."""
    monkeypatch.setattr(shuffle, "deck", modulo)
    found = shuffling.evenness(52, 10 * DEALS, SeededEntropy("modulo"), None)
    assert not found.is_even


def test_s5_too_even_is_not_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "deck", dealt_evenly)
    found = shuffling.evenness(32, DEALS, SeededEntropy("turned"), None)
    assert found.p > 1 - shuffling.LEVEL
    assert not found.is_even


@pytest.mark.parametrize(
    ("chi_square", "degrees", "p"),
    [
        (961, 961, 0.49393),
        (1_100, 961, 0.00117),
        (2_601, 2_601, 0.49631),
        (2_350, 2_601, 0.99983),
        (1_225, 1_225, 0.49463),
    ],
)
def test_the_probability_is_chi_squares(chi_square: float, degrees: int, p: float) -> None:
    """Beside scipy.stats.chi2.sf."""
    assert shuffling.probability(chi_square, degrees) == pytest.approx(p, abs=0.0001)


def test_s3_the_raw_file_holds_every_deal_with_its_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "deals"
    assert run(["audit", "shuffle", "--deals", "1000", "--raw", str(raw), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["even"]
    assert [deck["size"] for deck in report["decks"]] == [32, 36, 52]
    lines = raw.read_text().splitlines()
    assert len(lines) == 3_000
    for line in (lines[0], lines[1_000], lines[-1]):
        server_seed, hand_id, *deck = line.split()
        anew = shuffle.deck(bytes.fromhex(server_seed), bytes.fromhex(hand_id), 1, (b"", b""), len(deck))
        assert list(anew) == deck


def test_an_uneven_shuffle_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shuffle, "deck", naive)
    assert run(["audit", "shuffle", "--deals", "1000"]) == 1
    assert "the shuffle is not even: decks of 32, 36, 52" in capsys.readouterr().out
