"""A redacted hand file, completed: unseen cards are given places that agree with all that the file shows.

A file with a `view` holds when some whole hand agrees with it; that hand is replayed and judged like any other, so
there is no second legality for unseen cards. In the walk through the actions an unseen card is a blank, and a blank
becomes a card where its owner shows one. What is blank at the end is matched with the cards that are left.
Source: rulebook H7.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from domain.act import recorded
from domain.actions import Action
from domain.cards import SUIT, SUITS, Card, deck
from domain.consequences import consequences
from domain.events import CardsDealt, Event, TrumpTurned
from domain.evolve_hand import evolve_hand
from domain.games import game_of
from domain.hand import (
    Answering,
    Cutting,
    Declaring,
    Drawing,
    Over,
    Owing,
    Player,
    Playing,
    asked,
    at,
    find,
    with_player,
)
from domain.handfile.file import FileAction, HandFile, HandFileError
from domain.handfile.matching import match
from domain.handfile.playing import holdable, moments
from domain.handfile.replaying import FileDecks, opening, shuffled
from domain.money import AmountOverflow


class Completed(Struct, frozen=True):
    """A file without blanks; the clock's actions not to be held against T11; what was not shown, by field."""

    file: HandFile
    unjudged: frozenset[int] = frozenset()
    notes: tuple[tuple[str, str], ...] = ()


def complete(file: HandFile) -> Completed:
    """H7: a whole hand that agrees with the file. Raises HandFileError where no such hand is found.

    The walk stops at an action that no hand allows; the replay of the completed file then says why.
    """
    return Completed(file) if file.view is None else _Completion(file).whole()


class _Stopped(Exception):
    """The file breaks the rules here."""


def _is_blank(card: Card) -> bool:
    return card[0] == "?"


class _Completion:
    """`used` are the cards with a place, `filled` and `barred` what a blank is and may not be."""

    def __init__(self, file: HandFile) -> None:
        self.file = file
        self.game = game_of(file.options, file.rules)
        self.whole_deck = deck(self.game.deck_size(file.options, len(file.seats)))
        self.actions = file.actions if file.refusal is None else file.actions[:-1]
        self.moments = moments(self.actions)
        self.decks = FileDecks(tuple([self._with_blanks(i, cards) for i, cards in enumerate(file.deals)]))
        self.used = [{card for card in cards if not _is_blank(card)} for cards in self.decks.deals]
        self.filled: dict[Card, Card] = {}
        self.barred: dict[Card, set[Card]] = {}
        self.given_up: dict[int, tuple[Card, ...]] = {}
        self.unjudged: set[int] = set()
        self.notes: list[tuple[str, str]] = []

    def _with_blanks(self, index: int, cards: tuple[Card | None, ...]) -> tuple[Card, ...]:
        shuffle = self.file.shuffle
        if shuffle is not None and shuffle.server_seed is not None:
            return shuffled(self.file, shuffle, index + 1)
        return tuple([Card(f"?{index}.{i}") if card is None else card for i, card in enumerate(cards)])

    def whole(self) -> Completed:
        """The completed file."""
        self._note_decks()
        self.hand = opening(self.file)[1]
        try:
            self._unfold(())
            for index, entry in enumerate(self.actions):
                self._act(index, entry)
        except (_Stopped, AmountOverflow):
            pass
        self._bar_what_plays_exclude()
        self._bar_four_aces()
        for index, cards in enumerate(self.decks.deals):
            self._match(index, cards)
        return Completed(self._filled_file(), frozenset(self.unjudged), tuple(self.notes))

    # --- the walk

    def _unfold(self, events: Iterable[Event]) -> None:
        batch = tuple(events)
        while True:
            for event in batch:
                if isinstance(event, TrumpTurned) and _is_blank(event.card):
                    index, place = event.card[1:].split(".")
                    raise HandFileError(f"deals[{index}][{place}]", "null, but the turned trump card is seen by all")
                self.hand = evolve_hand(self.hand, event)
                if isinstance(event, CardsDealt) and event.deal_no == len(self.file.deals):
                    self._claim_shown_aces()
            batch = consequences(self.hand, self.decks)
            if not batch:
                return

    def _act(self, index: int, entry: FileAction) -> None:
        if find(self.hand, entry.seat) is None or isinstance(self.hand.phase, Over):
            raise _Stopped
        if entry.do != "look" and asked(self.hand) != entry.seat:
            raise _Stopped
        cards: tuple[Card, ...] | None = None
        match entry.do, self.hand.phase:
            case "look", _:
                pass
            case "play", Playing():
                assert entry.card is not None
                self._claim(entry.seat, entry.card)
            case ("discard", Owing()) | ("draw", Drawing()):
                cards = self._give_up(index, entry)
            case (("discard" | "draw" | "play"), _):
                raise _Stopped
            case word, Declaring() | Answering() | Cutting():
                self._claim_needed(index, entry.seat, word)
            case _:
                raise _Stopped
        action = Action(do=entry.do, card=entry.card, cards=cards)
        self._unfold(recorded(self.hand, entry.seat, action, entry.by))

    def _claim(self, seat: int, card: Card) -> None:
        """`seat` turns out to hold `card`: one of his blanks is it."""
        player = at(self.hand, seat)
        if card in player.cards:
            return
        used = self.used[self.hand.deal_no - 1]
        blanks = (c for c in player.cards if _is_blank(c) and card not in self.barred.get(c, ()))
        blank = next(blanks, None)
        if blank is None or card in used or card not in self.whole_deck:
            raise _Stopped
        used.add(card)
        self.filled[blank] = card
        self._show(player, blank, card)

    def _show(self, player: Player, blank: Card, card: Card) -> None:
        dealt = tuple([card if c == blank else c for c in player.dealt])
        cards = tuple([card if c == blank else c for c in player.cards])
        self.hand = replace(self.hand, players=with_player(self.hand, replace(player, dealt=dealt, cards=cards)))

    def _claim_needed(self, index: int, seat: int, word: str) -> None:
        """K5 to K7: the trumps that a word needs, and no other."""
        needed = self.game.needs.get(word)
        if needed is None:
            return
        if any(_is_blank(c) for c in at(self.hand, seat).cards):
            self.notes.append((f"actions[{index}]", f"the cards that {word!r} needs are not shown"))
        for rank in sorted(needed):
            self._claim(seat, Card(rank + self.hand.trump))
        trumps = {c for c in self.whole_deck if SUIT[c] == self.hand.trump}
        for blank in filter(_is_blank, at(self.hand, seat).cards):
            self.barred.setdefault(blank, set()).update(trumps)

    def _claim_shown_aces(self) -> None:
        """K12: four aces are shown, so the result tells whose they were."""
        result = self.file.result
        if result is None or result.ending != "four_aces":
            return
        for p in result.players:
            if p.tricks == self.game.hand_size and find(self.hand, p.seat) is not None:
                for suit in SUITS:
                    self._claim(p.seat, Card("A" + suit))

    def _give_up(self, index: int, entry: FileAction) -> tuple[Card, ...]:
        """The cards of a discard or a draw; in place of those not shown, cards that he can do without."""
        named = [card for card in entry.cards or () if card is not None]
        for card in named:
            self._claim(entry.seat, card)
        unseen = len(entry.cards or ()) - len(named)
        if entry.by == "clock" and (unseen or any(_is_blank(c) for c in at(self.hand, entry.seat).cards)):
            self.unjudged.add(index)
            self.notes.append((f"actions[{index}].by", "whether these were the lowest cards is not shown (T11)"))
        if not unseen:
            return tuple(named)
        self.notes.append((f"actions[{index}].cards", "not shown"))
        held = [c for c in at(self.hand, entry.seat).cards if c not in named]
        if len(held) < unseen:
            raise _Stopped
        drawn = len(entry.cards or ()) if entry.do == "draw" else 0
        gone = iter(self._least_needed(entry.seat, held, self.hand.deck[self.hand.stock : self.hand.stock + drawn]))
        self.given_up[index] = tuple([next(gone) if card is None else card for card in entry.cards or ()])
        return self.given_up[index]

    def _least_needed(self, seat: int, held: list[Card], coming: tuple[Card, ...]) -> list[Card]:
        """`held` in the order in which a seat that plays as the file says, and draws `coming`, can do without them."""
        plays = self.moments.get(seat, ())
        later = {moment.card for moment in plays}
        plays_all = len(plays) == self.game.hand_size
        # A blank is needed for each card that he plays and that is seen to come from nowhere else.
        needed = len(later.difference(held, coming)) - sum(map(_is_blank, coming))
        spare = [c for c in held if _is_blank(c)][max(0, needed) :]

        def rank(card: Card) -> int:
            if card in later or (_is_blank(card) and card not in spare):
                return 3
            if card in spare:
                return 1
            return 0 if plays_all or not holdable(plays, card, self.hand.trump) else 2

        return sorted(held, key=rank)

    # --- what is blank at the end

    def _bar_what_plays_exclude(self) -> None:
        """K15: what a player holds when the hand stops is nothing that he should have played before."""
        if not isinstance(self.hand.phase, Playing):
            return
        for p in self.hand.players:
            blanks = [c for c in p.cards if _is_blank(c)]
            if not (p.in_play and blanks):
                continue
            plays = self.moments.get(p.seat, ())
            if plays:
                self.notes.append(("actions", f"what seat {p.seat} kept is not shown; its plays were judged in part"))
            excluded = {c for c in self.whole_deck if not holdable(plays, c, self.hand.trump)}
            for blank in blanks:
                self.barred.setdefault(blank, set()).update(excluded)

    def _bar_four_aces(self) -> None:
        """K12: who has not shown four aces does not have them."""
        if not self.game.four_aces_take_all or not isinstance(self.hand.phase, Playing | Over):
            return
        for p in self.hand.players:
            blanks = [c for c in p.dealt if _is_blank(c)]
            if p.in_play and not p.replaced and blanks and all(c[0] in "A?" for c in p.dealt):
                self.barred.setdefault(blanks[0], set()).update(c for c in self.whole_deck if c[0] == "A")

    def _match(self, index: int, cards: tuple[Card, ...]) -> None:
        blanks = [c for c in cards if _is_blank(c) and c not in self.filled]
        left = [c for c in self.whole_deck if c not in self.used[index]]
        found = match(blanks, left, self.barred)
        if found is None:
            raise HandFileError(f"deals[{index}]", "no deck agrees with the words and the plays of the file (H7)")
        self.filled.update(found)

    def _note_decks(self) -> None:
        for index, cards in enumerate(self.decks.deals):
            count = sum(map(_is_blank, cards))
            if count:
                what = f"{count} of {len(cards)} cards are not shown; any that agree with the actions were taken"
                self.notes.append((f"deals[{index}]", what))

    def _filled_file(self) -> HandFile:
        deals = tuple([tuple([self.filled.get(c, c) for c in cards]) for cards in self.decks.deals])
        actions = []
        for index, entry in enumerate(self.file.actions):
            cards = self.given_up.get(index, entry.cards)
            if cards is not None:
                # Past the end of the walk any card does for one that is not shown: the replay does not come so far.
                cards = tuple([self.filled.get(c, c) if c is not None else self.whole_deck[0] for c in cards])
            actions.append(replace(entry, cards=cards))
        return replace(self.file, view=None, deals=deals, actions=tuple(actions))
