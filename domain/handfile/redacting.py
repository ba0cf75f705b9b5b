"""A hand file, reduced to what one audience saw while the hand was played. Source: rulebook H7, F2, S6."""

from __future__ import annotations

from msgspec.structs import replace

from domain.cards import Card
from domain.events import CardsDealt, FourAcesShown, TrumpTurned
from domain.games import game_of
from domain.hand import Hand, at
from domain.handfile.file import Audience, FileAction, HandFile, HandFileError
from domain.handfile.replaying import replay_whole


def redact(file: HandFile, audience: Audience) -> HandFile:
    """H7: the file as `audience` may have it, from a whole one. Raises HandFileError where the file does not replay.

    A card that another player plays is named by his action alone: where in the deck it lay would tell whether he was
    dealt or drew it. Of the shuffle the server seed is left out, since every card follows from it.
    """
    if file.view is not None:
        raise HandFileError("view", "the file is redacted already; redact a whole one")
    if file.refusal is not None:
        raise HandFileError("refusal", "a refused action is seen by nobody; a file with one is not redacted")
    if audience != "public" and all(s.seat != audience for s in file.seats):
        raise HandFileError("view", f"seat {audience} is not dealt in; there is only the public view for it")
    seen: list[set[Card]] = [set() for _ in file.deals]
    actions = []
    deal = 0
    for step in replay_whole(file):
        if step.action is not None:
            mine = step.action.seat == audience
            actions.append(step.action if mine else _hidden(step.action))
            seen[deal].update(c for c in step.action.cards or () if mine and c is not None)
        for event in step.events:
            match event:
                case CardsDealt():
                    deal = event.deal_no - 1
                case TrumpTurned():
                    seen[deal].add(event.card)
                case FourAcesShown():
                    seen[deal].update(event.cards)
                case _:
                    pass
        if audience != "public":
            seen[deal].update(_open_cards(step.hand, audience))
    deals = tuple([tuple([c if c in seen[i] else None for c in cards]) for i, cards in enumerate(file.deals)])
    shuffle = None if file.shuffle is None else replace(file.shuffle, server_seed=None)
    return replace(file, view=audience, deals=deals, actions=tuple(actions), shuffle=shuffle)


def _hidden(action: FileAction) -> FileAction:
    """K11: another player's discards are seen by count alone."""
    return action if action.cards is None else replace(action, cards=tuple([None] * len(action.cards)))


def _open_cards(hand: Hand, seat: int) -> tuple[Card, ...]:
    """The cards that `seat` holds and sees. F2: face down until he looks."""
    player = at(hand, seat)
    return player.cards if player.looked or not game_of(hand.options, hand.rules).looking else ()
