"""Cards, decks and their canonical order, as the rulebook's preface and K1, F1 have them."""

import pytest

from domain import cards


@pytest.mark.parametrize(("size", "lowest"), [(32, "7"), (36, "6"), (52, "2")])
def test_a_deck_runs_suit_by_suit_from_low_to_high(size: int, lowest: str) -> None:
    ranks = "23456789TJQKA"["23456789TJQKA".index(lowest) :]
    deck = cards.deck(size)
    assert deck == tuple(rank + suit for suit in "shdc" for rank in ranks)
    assert len(deck) == size
    assert set(deck) <= cards.ALL_CARDS


@pytest.mark.parametrize("size", [-1, 0, 24, 35, 54])
def test_no_other_size_is_a_deck(size: int) -> None:
    with pytest.raises(ValueError, match=f"no deck of {size} cards"):
        cards.deck(size)


def test_rank_and_suit_of_every_card() -> None:
    assert len(cards.ALL_CARDS) == 52
    for height, rank in enumerate("23456789TJQKA", start=2):
        for suit in "shdc":
            card = cards.parse_card(rank + suit)
            assert (cards.rank(card), cards.suit(card)) == (height, suit)
            assert (cards.RANK[card], cards.SUIT[card]) == (height, suit)


@pytest.mark.parametrize("text", ["", "A", "s", "as", "AS", "sA", "1s", "10s", "Ax", "As ", " As", "\u0410s"])
def test_what_is_no_card_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is no card") as refusal:
        cards.parse_card(text)
    assert repr(text) in str(refusal.value)
