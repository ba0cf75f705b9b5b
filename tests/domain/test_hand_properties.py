"""What holds of every hand of every game with every option. KHRAP_EXAMPLES=100000 makes the runs long."""

from __future__ import annotations

import random
from collections import Counter

from msgspec.structs import replace

from domain.act import act
from domain.events import (
    BankToppedUp,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CommissionTaken,
    Event,
    FinePaid,
    HandSettled,
    HandStarted,
    HandVoided,
    Result,
    SharePaid,
)
from domain.evolve import evolve
from domain.evolve_hand import evolve_hand
from domain.hand import Hand, Over, Player, asked, at
from domain.legal import clause, clock_action, forced, judge, offers
from domain.options import Khrap5Options
from domain.refusal import Refused
from tests.domain.hands import (
    Turn,
    events_of,
    every_action,
    folded,
    for_seeds,
    offered,
    random_decks,
    random_hand,
    random_start,
    random_turns,
)


class Till:
    """Purses, bank and house of a hand by its events alone, reckoned apart from the engine."""

    def __init__(self, started: HandStarted) -> None:
        self.purses = {s.seat: s.purse - started.ante for s in started.table.seats}
        self.paid_in = dict.fromkeys(self.purses, started.ante)
        self.bank = started.table.carried_bank + started.ante * len(self.purses)
        self.house = 0
        self.result: Result | None = None

    def apply(self, event: Event) -> None:
        """Move the money of `event`."""
        match event:
            case BankToppedUp():
                assert event.amount > 0, "T8: a credit to a bank is positive"
                self.move(event.seat, -event.amount)
                self.paid_in[event.seat] += event.amount
            case SharePaid():
                self.move(event.seat, event.amount)
            case CommissionTaken():
                self.purses[event.seat] -= event.amount
                self.house += event.amount
            case FinePaid():
                assert event.paid == min(event.due, self.purses[event.seat]), "T7"
                self.move(event.seat, -event.paid)
            case HandVoided():
                returned = {r.seat: r.amount for r in event.returned}
                assert returned == {s: paid for s, paid in self.paid_in.items() if paid}, "T12"
                for seat, paid in returned.items():
                    self.move(seat, paid)
                self.result = event.result
            case HandSettled():
                self.result = event.result
            case _:
                pass

    def move(self, seat: int, amount: int) -> None:
        """From the bank to a purse, or back where `amount` is negative."""
        self.purses[seat] += amount
        self.bank -= amount

    def total(self) -> int:
        """All money there is."""
        return sum(self.purses.values()) + self.bank + self.house


@for_seeds(150)
def test_t8_money_is_conserved_in_every_event(seed: int) -> None:
    started, *events = events_of(random_hand(seed))
    assert isinstance(started, HandStarted)
    till = Till(started)
    hand = evolve(None, started, 0).hand
    total = sum(s.purse for s in started.table.seats) + started.table.carried_bank
    for event in events:
        till.apply(event)
        hand = evolve_hand(hand, event) if hand is not None else None
        assert hand is not None
        assert till.total() == total, event
        assert (hand.bank, {p.seat: p.purse for p in hand.players}) == (till.bank, till.purses), event
        assert till.bank >= 0, event
        assert min(till.purses.values()) >= 0, event
    result = till.result
    assert result is not None
    assert result.carried_bank == till.bank
    assert {p.seat: p.purse for p in result.players} == till.purses
    assert sum(p.commission for p in result.players) == till.house
    if not result.bank:
        assert not any(p.fine_due for p in result.players), "T8"


@for_seeds(12)
def test_h3_offers_and_refusals_agree_on_every_action(seed: int) -> None:
    rng = random.Random(seed)
    started = random_start(rng)
    decks = random_decks(rng, started)
    turns = list(random_turns(rng, started, decks))
    for turn in rng.sample(turns, min(6, len(turns))):
        hand = turn.after
        foreign = max(started.dealt_in) + 1
        bystander = rng.choice(started.dealt_in)
        for seat in {asked(hand) or 0, bystander, foreign}:
            for action in every_action(hand, seat):
                legal = offered(hand, seat, action)
                refused = judge(hand, seat, action)
                assert (refused is None) == legal, (seat, action, refused, offers(hand, seat))
                if legal or rng.random() < 0.02:
                    assert isinstance(act(hand, seat, action, "player", decks), Refused) != legal, (seat, action)


@for_seeds(100)
def test_k_every_state_but_a_finished_hand_has_a_legal_action(seed: int) -> None:
    for turn in random_hand(seed):
        hand, seat = turn.after, asked(turn.after)
        if isinstance(hand.phase, Over):
            assert seat is None
            assert not any(offers(hand, p.seat) for p in hand.players)
            continue
        assert seat is not None, "a hand at rest awaits somebody"
        assert any(o.do != "look" for o in offers(hand, seat))
        assert clause(hand)
        for player in hand.players:
            if player.seat != seat:
                assert {o.do for o in offers(hand, player.seat)} <= {"look"}
        if forced(hand):
            (only,) = (o for o in offers(hand, seat) if o.do != "look")
            assert only.do in ("pass", "draw", "play")
            assert only.do != "draw" or only.most == 0
            assert only.do != "play" or len(only.cards) == 1


@for_seeds(100)
def test_t12_every_hand_ends_within_max_deals(seed: int) -> None:
    turns = random_hand(seed)
    most = turns[0].before.options.max_deals
    deals = [event.deal_no for event in events_of(turns) if isinstance(event, CardsDealt)]
    assert deals == list(range(1, len(deals) + 1))
    assert len(deals) <= most
    assert isinstance(turns[-1].after.phase, Over)
    last = events_of(turns)[-1]
    assert isinstance(last, HandSettled | HandVoided)


@for_seeds(60)
def test_t11_the_clock_alone_finishes_any_hand(seed: int) -> None:
    rng = random.Random(seed)
    started = random_start(rng)
    decks = random_decks(rng, started)
    hand = rng.choice(list(random_turns(rng, started, decks))).after
    before = hand.deal_no
    while (seat := asked(hand)) is not None:
        action = clock_action(hand)
        assert offered(hand, seat, action), (action, offers(hand, seat))
        events = act(hand, seat, action, "clock", decks)
        assert not isinstance(events, Refused)
        hand = folded(hand, events)
    assert isinstance(hand.phase, Over)
    assert hand.deal_no <= before + 1, "T12: one deal that only the clock acted in ends the hand"


@for_seeds(100)
def test_k2_no_card_is_lost_or_doubled(seed: int) -> None:
    for turn in random_hand(seed):
        hand = turn.after
        stock = hand.deck[hand.stock :]
        held = [card for p in hand.players for card in p.cards]
        places = Counter((*stock, *held))
        assert max(places.values(), default=1) == 1
        assert set(places) <= set(hand.deck)
        for p in hand.players:
            if turn.action is not None and turn.action.do == "discard" and turn.seat == p.seat:
                assert not set(turn.action.cards or ()) & set(p.cards), "K11: a discard does not come back"


@for_seeds(60)
def test_k11_events_bear_the_hands_id_and_count_their_cards(seed: int) -> None:
    rng = random.Random(seed)
    started = replace(random_start(rng), hand_id="this one")
    for event in events_of(tuple(random_turns(rng, started, random_decks(rng, started)))):
        assert getattr(event, "hand_id", "this one") == "this one", event
        if isinstance(event, CardsDiscarded | CardsDrawn):
            assert event.count == len(event.cards) == len(set(event.cards))


@for_seeds(40)
def test_k10_f5_nothing_of_an_earlier_deal_counts(seed: int) -> None:
    rng = random.Random(seed)
    started = random_start(rng)
    hand = evolve(None, started, 0).hand
    decks = random_decks(rng, started)
    for turn in random_turns(rng, started, decks):
        for event in turn.events[turn.action is None :]:
            assert hand is not None
            hand = evolve_hand(hand, event)
            if isinstance(event, CardsDealt):
                assert (hand.circle, hand.trump_card, hand.trump, hand.trump_taken) == (0, None, "", False)
                for p in hand.players:
                    fresh = Player(seat=p.seat, player=p.player, purse=p.purse, paid_in=p.paid_in)
                    assert replace(p, dealt=(), cards=(), time_bank_ms=0) == fresh


@for_seeds(100)
def test_t9_to_t11_the_shape_of_a_result(seed: int) -> None:
    turns = random_hand(seed)
    start, last = turns[0].before, turns[-1].after
    assert isinstance(last.phase, Over)
    result = last.phase.result
    assert [p.seat for p in result.players] == [p.seat for p in start.players]
    assert result.next_dealer in [p.seat for p in start.players]
    if result.ending == "voided":
        assert (result.bank, result.carried_bank, result.next_dealer) == (start.carried, start.carried, start.dealer)
        for p in result.players:
            before = at(start, p.seat)
            assert (p.status, p.tricks, p.share, p.commission, p.fine_due) == ("passed", 0, 0, 0, 0)
            assert p.purse == before.purse + before.paid_in
        return
    assert sum(p.tricks for p in result.players) == (5 if isinstance(start.options, Khrap5Options) else 4)
    assert sum(p.share for p in result.players) <= result.bank
    for p in result.players:
        assert p.fine_paid <= p.fine_due
        assert not (p.commission and p.fine_due), "T10: who is fined pays no commission"
        assert not (p.commission and p.share <= start.stake), "T10"
        if p.status == "passed":
            assert (p.tricks, p.share, p.fine_due) == (0, 0, 0)


WORDS_OF = {
    "khrap": "khrap helicopter ace pass help longing decline pyatok shestok discard play",
    "frap": "frap frap_blind whist pass look draw cut cut_trump discard play",
    "khrap5": "khrap whist pass draw cut cut_trump discard play",
}


def test_the_random_hands_come_to_all_words_and_endings() -> None:
    """The properties say nothing of what the generator never does."""
    hands: list[tuple[Turn, ...]] = [random_hand(seed) for seed in range(600)]
    words = {(_game(t.before), t.action.do) for turns in hands for t in turns if t.action is not None}
    assert words == {(game, word) for game, its_words in WORDS_OF.items() for word in its_words.split()}
    endings = {(_game(turns[-1].after), _ending(turns[-1].after)) for turns in hands}
    assert endings == {(game, ending) for game in WORDS_OF for ending in ("played", "uncontested", "voided")} | {
        ("khrap", "four_aces")
    }
    assert {t.by for turns in hands for t in turns} == {"player", "clock"}
    assert {turns[-1].after.deal_no for turns in hands} >= {1, 2, 3, 8}


def _game(hand: Hand) -> str:
    return str(type(hand.options).__struct_config__.tag)


def _ending(hand: Hand) -> str:
    assert isinstance(hand.phase, Over)
    return hand.phase.result.ending
