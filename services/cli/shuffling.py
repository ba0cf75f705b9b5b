"""Many shuffles counted, card by position, and what chi-square says of them. Source: rulebook S, F1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TextIO

from msgspec import Struct

from domain import cards, shuffle
from domain.cards import Card
from infra.entropy import Entropy

SIZES = (32, 36, 52)
LEVEL = 0.0001
"""A shuffle that is even is called uneven in so many of all runs, by one deck; and as seldom too even."""
EACH = 1_000
"""So many deals are counted between two words of progress."""


class Evenness(Struct, frozen=True):
    """How often each card came to each position of a deck of `size`: chi-square, its freedom and its probability.

    `p` is how often an even shuffle would be as uneven as this one or more.
    """

    size: int
    deals: int
    chi_square: float
    degrees_of_freedom: int
    p: float

    @property
    def is_even(self) -> bool:
        """Neither more uneven than chance makes it, nor more even."""
        return LEVEL <= self.p <= 1 - LEVEL


def evenness(
    size: int, deals: int, entropy: Entropy, raw: TextIO | None, counted: Callable[[int], None] = lambda deals: None
) -> Evenness:
    """Shuffle so many decks of `size` as hands are shuffled, each from fresh seeds, and count.

    `raw` gets a line a deal: the server seed and the hand id in hex, from which S3 to S5 make the deck anew (deal 1,
    two dealt in, no client seeds), and the deck, its first card first.
    """
    counts: list[dict[Card, int]] = [dict.fromkeys(cards.deck(size), 0) for _ in range(size)]
    for deal in range(1, deals + 1):
        server_seed, hand_id = entropy.random_bytes(32), entropy.random_bytes(16)
        deck = shuffle.deck(server_seed, hand_id, 1, (b"", b""), size)
        for count, card in zip(counts, deck, strict=True):
            count[card] += 1
        if raw is not None:
            raw.write(f"{server_seed.hex()} {hand_id.hex()} {' '.join(deck)}\n")
        if deal % EACH == 0:
            counted(deal)
    return judged(counts, size, deals)


def judged(counts: list[dict[Card, int]], size: int, deals: int) -> Evenness:
    """Pearson's chi-square of card × position, (size - 1)² degrees of freedom.

    Each card is somewhere in every deck, and each position holds one card: rows and columns alike come to `deals`. So
    the sum of squares is too large by size / (size - 1) for chi-square's distribution, and is taken that much less.
    """
    expected = deals / size
    squares = sum((seen - expected) ** 2 for count in counts for seen in count.values())
    chi_square = squares / expected * (size - 1) / size
    degrees = (size - 1) ** 2
    return Evenness(size, deals, round(chi_square, 2), degrees, probability(chi_square, degrees))


def probability(chi_square: float, degrees: int) -> float:
    """How often chi-square is as large or larger, by Wilson and Hilferty's cube root: to 0.0001 from 100 degrees on."""
    spread = 2 / (9 * degrees)
    deviation = ((chi_square / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(deviation / math.sqrt(2)) / 2
