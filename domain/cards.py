"""Cards and decks in the rulebook's notation: rank `2 3 4 5 6 7 8 9 T J Q K A`, suit `s h d c`."""

from typing import Final, NewType

Card = NewType("Card", str)
"""Two characters, rank and suit: `As` is the ace of spades, `Td` the ten of diamonds."""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "shdc"

_LOWEST: Final = {32: "7", 36: "6", 52: "2"}


def _canonical(lowest: str) -> tuple[Card, ...]:
    ranks = RANKS[RANKS.index(lowest) :]
    return tuple(Card(rank + suit) for suit in SUITS for rank in ranks)


_DECKS: Final = {size: _canonical(lowest) for size, lowest in _LOWEST.items()}

ALL_CARDS: Final = frozenset(_DECKS[52])

# Open to all, so that a hot path may look a card up without the call.
RANK: Final[dict[str, int]] = {card: RANKS.index(card[0]) + 2 for card in ALL_CARDS}
SUIT: Final[dict[str, str]] = {card: card[1] for card in ALL_CARDS}


def rank(card: Card) -> int:
    """The card's height within its suit, 2 to 14: `2s` is 2, `Ts` 10, `As` 14."""
    return RANK[card]


def suit(card: Card) -> str:
    """The card's suit, one of `SUITS`."""
    return SUIT[card]


def deck(size: int) -> tuple[Card, ...]:
    """The deck of 32, 36 or 52 cards in canonical order: suit by suit, each from low to high.

    ValueError for any other size.
    """
    try:
        return _DECKS[size]
    except KeyError:
        raise ValueError(f"no deck of {size} cards, only of 32, 36 or 52") from None


def parse_card(text: str) -> Card:
    """The card that `text` names, taken as it stands. ValueError where it names none."""
    if text in ALL_CARDS:
        return Card(text)
    raise ValueError(f"{text!r} is no card; a rank of {RANKS} and a suit of {SUITS} make one")
