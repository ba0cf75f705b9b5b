"""Cards to places, each place with the cards that it may not hold. Source: rulebook H7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from domain.cards import Card


def match(places: Sequence[Card], cards: Sequence[Card], barred: Mapping[Card, Set[Card]]) -> dict[Card, Card] | None:
    """A card for each place, none twice and none that is barred there; None where there is no such matching.

    Places without a bar take what is left, so the search (augmenting paths) is over the few that have one.
    """
    holder: dict[Card, Card] = {}

    def place(blank: Card, tried: set[Card]) -> bool:
        for card in cards:
            if card in tried or card in barred[blank]:
                continue
            tried.add(card)
            if card not in holder or place(holder[card], tried):
                holder[card] = blank
                return True
        return False

    if not all(place(blank, set()) for blank in places if barred.get(blank)):
        return None
    left = (card for card in cards if card not in holder)
    free = (blank for blank in places if not barred.get(blank))
    return {blank: card for card, blank in holder.items()} | dict(zip(free, left, strict=True))
