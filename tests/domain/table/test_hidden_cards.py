"""K2, F2: two games that differ in cards alone which an audience may not see are the same to it, byte for byte.

A random table is played with stacked decks. Then, up to some moment, it is played again by the same commands with the
cards that the audience had not seen by then in other places. All that it is shown at each step is compared, until the
other cards make a difference that the rules themselves show: another player may not do what he did, the clock plays
another card for him, or four aces are shown.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain import commands as c
from domain import shuffle
from domain.actions import Action
from domain.cards import SUITS, Card, deck
from domain.decide import decide
from domain.events import (
    CardPlayed,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    Declared,
    Event,
    FourAcesShown,
    TrumpTurned,
)
from domain.evolve import evolve
from domain.halves import private_half, public_event
from domain.hand import Owing, at
from domain.options import FrapOptions, GameName
from domain.refusal import Refused
from domain.table import Table, running
from domain.views import awaited, legal_actions, own_cards, view
from tests.domain.table.random_tables import RandomTable, Step
from tests.domain.table.test_random_tables import every_game, every_seed

COMMANDS = 70
Deal = tuple[str, int]
"""A hand's id in hex, and the number of a deal."""
Decks = dict[Deal, tuple[Card, ...]]

PROBES = (
    Action(do="pass"),
    Action(do="look"),
    Action(do="khrap"),
    Action(do="helicopter"),
    Action(do="ace"),
    Action(do="longing"),
    Action(do="frap_blind"),
    Action(do="cut_trump"),
    *(Action(do="play", card=Card(rank + suit)) for rank in "6JA" for suit in SUITS),
    Action(do="discard", cards=(Card("As"),)),
    Action(do="draw", cards=(Card("As"), Card("Kd"))),
)


class Stacked:
    """In place of `shuffle.deck`: decks that are given, or made at random with a liking for the rare words."""

    def __init__(self, rng: random.Random, decks: Decks | None = None) -> None:
        self.rng = rng
        self.decks: Decks = {} if decks is None else decks

    def deck(self, _: bytes, hand_id: bytes, deal_no: int, seeds: Sequence[bytes], size: int) -> tuple[Card, ...]:
        key = hand_id.hex(), deal_no
        if key not in self.decks:
            self.decks[key] = self._made(len(seeds), size)
        return self.decks[key]

    def _made(self, players: int, size: int) -> tuple[Card, ...]:
        cards = list(deck(size))
        self.rng.shuffle(cards)
        trump = cards[4 * players][1]
        wanted = self.rng.choice(((), ("A",), ("6",), ("A", "6")))
        lucky = self.rng.randrange(players)
        places = [lucky + players * i for i in range(4)]
        for place, rank in zip(places, wanted, strict=False):
            card = Card(rank + trump)
            if card in cards:
                other = cards.index(card)
                cards[place], cards[other] = cards[other], cards[place]
        return tuple(cards)


class Shown(Struct, frozen=True):
    """What an audience is shown after a step, encoded."""

    events: bytes
    view: bytes
    legal: bytes
    probes: tuple[bytes, ...]


def encoded(thing: Any) -> bytes:
    return msgspec.json.encode(thing)


def halves(events: Sequence[Event], tables: Sequence[Table], player: str | None) -> bytes:
    """The events as an answer or a stream shows them."""
    shown = []
    for event, after in zip(events, tables, strict=True):
        private = None if player is None else private_half(after, event, player)
        shown.append({**public_event(event), "mine": private})
    return encoded(shown)


def folded(table: Table | None, events: Sequence[Event], at_ms: int) -> tuple[Table, ...]:
    tables = []
    for event in events:
        table = evolve(table, event, at_ms)
        tables.append(table)
    return tuple(tables)


def probed(table: Table, player: str, at_ms: int) -> tuple[bytes, ...]:
    """What comes back to `player` for each of the probes: the whole refusal, or that it is accepted.

    One whose cards lie face down does not name any: that he holds a card or not is what he may ask for by a look.
    """
    answers = []
    blind = own_cards(table, player) is None
    for action in PROBES:
        if blind and (action.card or action.cards):
            continue
        fresh = c.Fresh(hand_id="018f0000-0000-7000-8000-ffffffffffff", server_seed="00" * 32, key_commitment="")
        act = c.Act(at_ms=at_ms, player=player, turn=table.turn, action=action, fresh=fresh)
        done = decide(table, act)
        answers.append(encoded(done) if isinstance(done, Refused) else b"accepted")
    return tuple(answers)


def shown(events: Sequence[Event], tables: Sequence[Table], at_ms: int, player: str | None) -> Shown:
    after = tables[-1]
    return Shown(
        halves(events, tables, player),
        encoded(view(after, player)),
        encoded(() if player is None else legal_actions(after, player)),
        () if player is None else probed(after, player, at_ms),
    )


def seen(steps: Sequence[Step], player: str | None) -> dict[Deal, set[Card]]:
    """The cards of each deal that `player` has seen, or a spectator, by the words of F2 and not by the domain's."""
    found: dict[Deal, set[Card]] = {}
    looked: set[Deal] = set()
    for step in steps:
        for event, table in zip(step.events, step.tables, strict=True):
            hand = table.hand
            if hand is None or not hand.deal_no:
                continue
            deal = hand.hand_id.replace("-", ""), hand.deal_no
            known = found.setdefault(deal, set())
            match event:
                case TrumpTurned(card=card) | CardPlayed(card=card):
                    known.add(card)
                case FourAcesShown(cards=aces):
                    known.update(aces)
                case _:
                    pass
            mine = next((p for p in hand.players if p.player == player), None)
            if mine is None:
                continue
            if not isinstance(hand.options, FrapOptions) or _looks(step.command, event, mine.seat):
                looked.add(deal)
            if deal in looked:
                known.update(mine.cards)
            if isinstance(event, CardsDiscarded) and event.seat == mine.seat and _chosen(step.command, event):
                known.update(event.cards)
    return found


def _looks(command: c.TableCommand, event: Event, seat: int) -> bool:
    """F2: `look`, `frap`, `whist`, `draw` and every discard that he makes; not the cards that a word throws away."""
    match event:
        case CardsLooked() | Declared(do="frap" | "whist"):
            return event.seat == seat
        case CardsDiscarded():
            return event.seat == seat and _chosen(command, event)
        case CardsDrawn():
            drew = isinstance(command, c.Act) and command.action.do == "draw"
            return event.seat == seat and (drew or event.by == "clock")
        case _:
            return False


def _chosen(command: c.TableCommand, event: CardsDiscarded) -> bool:
    """Whether he named the cards himself, or the clock gave away his lowest."""
    named = command.action.cards if isinstance(command, c.Act) else event.cards
    return named == event.cards and (isinstance(command, c.Act) or event.by == "clock")


def cuts(rng: random.Random, steps: Sequence[Step], player: str | None) -> list[int]:
    """Moments up to which games are compared: any, and some at which it is for the player to decide."""
    asked_at = [i + 1 for i, step in enumerate(steps) if player is not None and asks(step.after) == player]
    discards = [i for i in asked_at if isinstance(steps[i - 1].after.hand.phase, Owing)]  # type: ignore[union-attr]
    wanted = [rng.randint(1, len(steps)), len(steps)]
    return wanted + [rng.choice(some) for some in (asked_at, discards, discards) if some]


def asks(table: Table) -> str | None:
    """Who is asked, by name."""
    seat = awaited(table)
    return None if seat is None or table.hand is None else at(table.hand, seat).player


def with_unseen_elsewhere(
    rng: random.Random, decks: Decks, known: dict[Deal, set[Card]]
) -> tuple[Decks, dict[Deal, dict[Card, Card]]]:
    """The decks with two unseen cards swapped, or all of them moved; and which card has become which."""
    moved: Decks = {}
    anew: dict[Deal, dict[Card, Card]] = {}
    for deal, cards in decks.items():
        unseen = [card for card in cards if card not in known.get(deal, ())]
        chosen = rng.sample(unseen, 2) if rng.random() < 0.5 and len(unseen) > 1 else unseen
        anew[deal] = dict(
            zip(chosen, rng.sample(chosen, len(chosen)) if len(chosen) != 2 else chosen[::-1], strict=True)
        )
        moved[deal] = tuple(anew[deal].get(card, card) for card in cards)
    return moved, anew


def translated(command: c.TableCommand, before: Table | None, anew: dict[Deal, dict[Card, Card]]) -> c.TableCommand:
    """The same command, where it names an unseen card with the card that has its place."""
    hand = None if before is None else running(before)
    if not isinstance(command, c.Act) or hand is None:
        return command
    places = anew.get((hand.hand_id.replace("-", ""), hand.deal_no), {})
    action = command.action
    if action.cards is not None:
        action = replace(action, cards=tuple(places.get(card, card) for card in action.cards))
    elif action.card is not None:
        action = replace(action, card=places.get(action.card, action.card))
    return replace(command, action=action)


def rules_show_it(ours: Sequence[Event], theirs: Sequence[Event]) -> bool:
    """Whether other unseen cards make a difference by the rules alone: four aces, or what the clock plays."""
    if any(isinstance(e, FourAcesShown) for e in (*ours, *theirs)):
        return ours != theirs
    played = [[e for e in events if isinstance(e, CardPlayed) and e.by == "clock"] for events in (ours, theirs)]
    return played[0] != played[1]


@every_game
@every_seed
def test_k2_f2_nobody_is_shown_a_card_that_he_may_not_see(seed: int, game: GameName) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        _two_games(seed, game, monkeypatch)


def _two_games(seed: int, game: GameName, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"hidden {seed} {game}")
    first = Stacked(rng)
    monkeypatch.setattr(shuffle, "deck", first.deck)
    steps = tuple(RandomTable(seed, game).play(COMMANDS))
    players = sorted({p.player for step in steps if (hand := step.after.hand) is not None for p in hand.players})
    compared = 0
    for player in (None, "a-stranger", *rng.sample(players, min(3, len(players)))):
        told = [shown(s.events, s.tables, s.command.at_ms, player) for s in steps]
        for cut in cuts(rng, steps, player):
            decks, anew = with_unseen_elsewhere(rng, first.decks, seen(steps[:cut], player))
            monkeypatch.setattr(shuffle, "deck", Stacked(rng, decks).deck)
            compared += _compared(steps[:cut], told, anew, player)
    assert compared > len(steps)


def _compared(
    steps: Sequence[Step], told: Sequence[Shown], anew: dict[Deal, dict[Card, Card]], player: str | None
) -> int:
    """How many steps were compared, each equal, in a game with these other cards."""
    other: Table | None = None
    for i, step in enumerate(steps):
        command = translated(step.command, other, anew)
        events = decide(other, command)
        if isinstance(events, Refused):
            actor = command.player if isinstance(command, c.Act) else None
            assert actor is not None, (command, events)
            assert actor != player, (command, events)
            return i
        if rules_show_it(step.events, events):
            return i
        tables = folded(other, events, command.at_ms)
        again = shown(events, tables, command.at_ms, player)
        assert again.events == told[i].events
        assert again.view == told[i].view
        assert again.legal == told[i].legal
        assert again.probes == told[i].probes
        other = tables[-1]
    return len(steps)
