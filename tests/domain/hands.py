"""Random hands of the three games, from a seed: settings, decks and legal play, with a liking for the rare words."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import combinations
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from msgspec import Struct

from domain.act import act, unfold
from domain.actions import WORDS, Action, Do
from domain.cards import ALL_CARDS, SUIT, Card, deck
from domain.consequences import Decks, consequences, void
from domain.events import By, Event, HandStarted, Seat, Settings, TableRecord
from domain.evolve import evolve
from domain.evolve_hand import evolve_hand
from domain.games import game_of, newest
from domain.hand import Hand, Over, asked
from domain.legal import Offer, clock_action, offers
from domain.money import TABLE_LIMIT, ante
from domain.options import AntePolicy, FrapOptions, GameName, Khrap5Options, KhrapOptions, Options

GAMES: tuple[GameName, ...] = ("khrap", "frap", "khrap5")
EXAMPLES = int(os.environ.get("KHRAP_EXAMPLES", "0"))

Test = TypeVar("Test", bound=Callable[..., None])

seeds = st.integers(min_value=0, max_value=2**64 - 1)
"""Of random hands."""


def unhurried(test: Test) -> Test:
    """Without the time limit of a test in a long run."""
    return pytest.mark.timeout(0)(test) if EXAMPLES else test


def for_seeds(count: int) -> Callable[[Callable[[int], None]], Callable[[], None]]:
    """The test is run with `count` random seeds, in a long run with KHRAP_EXAMPLES of them; a failing one is printed.

    By a note, since the pytest plugin of schemathesis leaves plain values out of hypothesis' own report.
    """

    def decorate(test: Callable[[int], None]) -> Callable[[], None]:
        @settings(max_examples=EXAMPLES or count, deadline=None, suppress_health_check=list(HealthCheck))
        @given(seed=seeds)
        @wraps(test)
        def run(seed: int) -> None:
            note(f"seed={seed}")
            test(seed)

        return unhurried(run)

    return decorate


class Turn(Struct, frozen=True, kw_only=True):
    """One action of a random hand. The opening, and a voiding by ops, has no seat and no action."""

    before: Hand
    seat: int | None
    action: Action | None
    by: By
    events: tuple[Event, ...]
    after: Hand


def random_options(rng: random.Random, game: GameName) -> Options:
    """Any options of the game, each value as likely as the others."""
    ante_policy: AntePolicy = rng.choice(("every_hand", "empty_bank"))
    max_deals = rng.choice((1, 2, 3, 8))
    match game:
        case "khrap":
            return KhrapOptions(
                ante_policy=ante_policy,
                redeal_ante=rng.choice((False, True)),
                max_trump_changes=rng.choice((2, 3)),
                helicopter_limit=rng.choice((0, 1, 6)),
                draw_limit=rng.choice(("stock", "one_each")),
                declarer_fine=rng.choice(("flat", "graded")),
                max_deals=max_deals,
            )
        case "frap":
            return FrapOptions(ante_policy=ante_policy, deck=rng.choice((None, 36, 52)), max_deals=max_deals)
        case "khrap5":
            return Khrap5Options(ante_policy=ante_policy, max_deals=max_deals)


def random_start(rng: random.Random, game: GameName | None = None) -> HandStarted:
    """The start of a hand: two players to all that fit, stakes of nothing and odd ones, purses up to T1's limit."""
    picked = GAMES[rng.randrange(len(GAMES))] if game is None else game
    options = random_options(rng, picked)
    most = newest(picked).max_seats
    seats = sorted(rng.sample(range(most), rng.randint(2, most)))
    stake = rng.choice((0, 1, 3, 7, 50, 2_000, 2_001, rng.randint(0, 2**40)))
    room = (TABLE_LIMIT - stake * (len(seats) + 1)) // (len(seats) + 1)
    largest = rng.choice((1, 5 * stake + 1, 100 * stake + 1, room))
    purses = [min(stake + rng.randint(0, largest), TABLE_LIMIT // (len(seats) + 1)) for _ in seats]
    carried = rng.choice((0, 0, stake, 3 * stake + 1, rng.randint(0, largest)))
    table = TableRecord(
        settings=Settings(
            currency="RUB",
            stake=stake,
            entry_limit=stake,
            max_seats=most,
            commission_bps=rng.choice((0, 1, 400, 10_000)),
            options=options,
        ),
        seats=tuple(
            Seat(seat=s, player=f"p{s}", purse=max(purse, stake), buy_in=stake)
            for s, purse in zip(seats, purses, strict=True)
        ),
        carried_bank=carried,
    )
    return HandStarted(
        hand_id="",
        commitment="",
        dealer=rng.choice(seats),
        dealt_in=tuple(seats),
        ante=ante(options.ante_policy, stake, carried),
        client_seeds=(),
        table=table,
    )


def random_decks(rng: random.Random, started: HandStarted) -> Decks:
    """Decks by deal number, the same for the same number; some stacked for the words that need rare cards."""
    settings_ = started.table.settings
    game = game_of(settings_.options, settings_.rules)
    players = len(started.dealt_in)
    size = game.deck_size(settings_.options, players)
    stacked = rng.random() < 0.5
    seed = rng.getrandbits(64)

    def decks(deal_no: int) -> tuple[Card, ...]:
        dealing = random.Random(f"{seed}/{deal_no}")
        cards = list(deck(size))
        dealing.shuffle(cards)
        if stacked:
            _stack(dealing, cards, players, game.hand_size)
        return tuple(cards)

    return decks


def _stack(rng: random.Random, cards: list[Card], players: int, hand_size: int) -> None:
    """One player is dealt four aces, or the ace, the six or both of trumps and no other trump."""
    lucky = rng.randrange(players)
    places = [lucky + players * i for i in range(hand_size)]
    trump = SUIT[cards[players * hand_size]]
    wanted = rng.choice(
        (
            [Card("A" + s) for s in "shdc"],
            [Card("A" + trump), Card("6" + trump)],
            [Card("A" + trump)],
            [Card("6" + trump)],
        )
    )
    wanted = [card for card in wanted if card in cards]
    for place, card in zip(places, wanted, strict=False):
        _swap(cards, place, cards.index(card))
    for place in places[len(wanted) :]:
        others = [i for i, c in enumerate(cards) if i not in places and SUIT[c] != SUIT[cards[players * hand_size]]]
        if SUIT[cards[place]] == SUIT[cards[players * hand_size]] and others:
            _swap(cards, place, rng.choice([i for i in others if i != players * hand_size] or others))


def _swap(cards: list[Card], i: int, j: int) -> None:
    cards[i], cards[j] = cards[j], cards[i]


_LIKED = {"pass": 2, "decline": 2, "helicopter": 20, "ace": 20, "longing": 20, "frap_blind": 4, "look": 1, "play": 8}
"""How much a word is liked beside others, 3 where it is not named. Passing is liked enough for hands to be redealt."""


def chosen(rng: random.Random, offer: Offer) -> Action:
    """An action that the offer allows, any cards."""
    match offer.do:
        case "play":
            return Action(do="play", card=rng.choice(offer.cards))
        case "discard" | "draw" as do:
            count = rng.randint(offer.least, offer.most)
            return Action(do="discard" if do == "discard" else "draw", cards=tuple(rng.sample(offer.cards, count)))
        case word:
            return Action(do=_word(word))


def _word(text: str) -> Do:
    words: dict[str, Do] = {word: word for word in ("look", *sorted(WORDS))}  # type: ignore[misc]
    return words[text]


def random_turns(rng: random.Random, started: HandStarted, decks: Decks) -> Iterator[Turn]:
    """The hand, legal action by legal action, to its end; some acted for by the clock, some voided by ops."""
    hand = evolve(None, started, 0).hand
    assert hand is not None
    events, after = unfold(hand, consequences(hand, decks), decks)
    yield Turn(before=hand, seat=None, action=None, by="player", events=(started, *events), after=after)
    passing, clock = rng.choice((1, 1, 8, 100)), rng.choice((0.0, 0.0, 0.2, 0.9))
    voiding = rng.choice((0.0,) * 7 + (0.05,))
    while not isinstance((hand := after).phase, Over):
        if rng.random() < voiding:
            events, after = unfold(hand, (void(hand, "ops", "a wish", ("a", "b")),), decks)
            yield Turn(before=hand, seat=None, action=None, by="player", events=events, after=after)
            return
        seat, action, by = _decision(rng, hand, passing, clock)
        done = act(hand, seat, action, by, decks)
        assert isinstance(done, tuple), (hand, seat, action, done)
        after = folded(hand, done)
        yield Turn(before=hand, seat=seat, action=action, by=by, events=done, after=after)


def _decision(rng: random.Random, hand: Hand, passing: int, clock: float) -> tuple[int, Action, By]:
    """Who acts next, and how: most often who is asked, at times one who looks out of turn."""
    seat = asked(hand)
    assert seat is not None, hand.phase
    lookers = [p.seat for p in hand.players if p.seat != seat and offers(hand, p.seat)]
    if lookers and rng.random() < 0.1:
        return rng.choice(lookers), Action(do="look"), "player"
    if rng.random() < clock:
        return seat, clock_action(hand), "clock"
    offered = offers(hand, seat)
    weights = [_LIKED.get(o.do, 3) * (passing if o.do in ("pass", "decline") else 1) for o in offered]
    return seat, chosen(rng, rng.choices(offered, weights)[0]), "player"


def folded(hand: Hand, events: tuple[Event, ...]) -> Hand:
    """The hand after these events, by the fold alone."""
    for event in events:
        hand = evolve_hand(hand, event)
    return hand


def random_hand(seed: int, game: GameName | None = None) -> tuple[Turn, ...]:
    """A whole hand from a seed."""
    rng = random.Random(seed)
    started = random_start(rng, game)
    return tuple(random_turns(rng, started, random_decks(rng, started)))


def events_of(turns: tuple[Turn, ...]) -> tuple[Event, ...]:
    """All events of a hand, from its HandStarted on."""
    return tuple(event for turn in turns for event in turn.events)


def every_action(hand: Hand, seat: int) -> Iterator[Action]:
    """Every word, every card of 52 as a play, every set of at most six of his cards as discard and draw; besides a
    discard with a card that he does not hold, and one that names a card twice."""
    for word in sorted(WORDS):
        yield Action(do=_word(word))
    for card in sorted(ALL_CARDS):
        yield Action(do="play", card=card)
    held = next((p.cards for p in hand.players if p.seat == seat), ())
    foreign = next(card for card in sorted(ALL_CARDS) if card not in held)
    sets = [s for count in range(len(held) + 1) for s in combinations(held, count)]
    for cards in (*sets, (foreign,), *((card, card) for card in held[:1])):
        yield Action(do="discard", cards=cards)
        yield Action(do="draw", cards=cards)


def offered(hand: Hand, seat: int, action: Action) -> bool:
    """Whether the offers, read on their own, allow the action."""
    named = (action.card,) if action.card is not None else action.cards or ()
    for offer in offers(hand, seat):
        if offer.do == action.do:
            distinct = len(set(named)) == len(named)
            return distinct and set(named) <= set(offer.cards) and offer.least <= len(named) <= offer.most
    return False
