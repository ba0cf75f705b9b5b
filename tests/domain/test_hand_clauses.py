"""T5 to T12 at the level of a hand: given a hand, when an action is taken, then exactly these events in this order."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.actions import Action
from domain.cards import Card
from domain.consequences import void
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CommissionTaken,
    Declared,
    FinePaid,
    HandSettled,
    HandVoided,
    PlayerResult,
    Result,
    SeatAmount,
    SharePaid,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
)
from domain.evolve_hand import evolve_hand
from domain.games import newest
from domain.hand import at
from domain.legal import LOOK, Offer, clock_action, forced, judge, offers
from domain.money import MAX_AMOUNT, AmountOverflow, amount, ante, commission, per_trick, split_evenly
from domain.options import FrapOptions, Khrap5Options, KhrapOptions
from domain.refusal import Refused
from tests.domain.given import given

ANNA, BORIS, VERA, GLEB = 0, 1, 2, 3
WEAK, STRONG = "Qs Js 8d 9d", "As Ks 7h 8h"


def result(seat: int, status: str, purse: int, **others: int) -> PlayerResult:
    """A player's result, nought where nothing is said."""
    fields = {"tricks": 0, "share": 0, "commission": 0, "fine_due": 0, "fine_paid": 0} | others
    return PlayerResult(seat=seat, status=status, purse=purse, **fields)


# --- T5, T6: ante and bank


def test_t5_every_dealt_in_player_antes_the_stake() -> None:
    hand = given("carried: 77", anna=WEAK, boris=STRONG, trump="9s")
    assert hand.started.ante == 2000
    assert [p.purse for p in hand.hand.players] == [98_000, 98_000]
    assert (hand.hand.carried, hand.hand.bank) == (77, 4077)


@pytest.mark.parametrize(("carried", "paid"), [(0, 2000), (1, 0), (2000, 0)])
def test_t5_empty_bank_asks_for_an_ante_only_where_nothing_is_carried(carried: int, paid: int) -> None:
    hand = given(f"carried: {carried}\noptions: ante_policy=empty_bank", anna=WEAK, boris=STRONG, trump="9s")
    assert hand.started.ante == paid
    assert hand.hand.bank == carried + 2 * paid
    assert [ante("every_hand", 2000, carried), ante("empty_bank", 2000, carried)] == [2000, paid]


def test_t6_top_ups_of_the_hand_count_for_shares_and_fines() -> None:
    hand = given("game: frap\ncarried: 1", anna=WEAK, boris=STRONG, trump="9s", stock="Tc")
    hand.when("boris pass")
    assert hand.when("anna pass") == (
        Declared(seat=ANNA, do="pass"),
        BankToppedUp(seat=ANNA, amount=2000),
        BankToppedUp(seat=BORIS, amount=2000),
        TrumpTurned(card=Card("Tc"), circle=2),
    )
    assert hand.hand.bank == 8001
    events = hand.when(
        "boris frap", "anna whist", "boris draw", "anna draw",
        "boris play As", "anna play Js", "boris play Ks", "anna play Qs",
        "boris play 7h", "anna play 8d", "boris play 8h", "anna play 9d",
    )  # fmt: skip
    assert events[2:5] == (
        FinePaid(seat=ANNA, due=8001, paid=8001),
        SharePaid(seat=BORIS, tricks=4, amount=8000),
        events[4],
    )
    assert isinstance(events[4], HandSettled)
    assert (events[4].result.bank, events[4].result.carried_bank) == (8001, 8002)


# --- T7 to T10: fines, shares, commission

LAST_TRICK = (
    "boris khrap", "anna help", "boris play As", "anna play Js", "boris play Ks", "anna play Qs",
    "boris play 7h", "anna play 8d", "boris play 8h",
)  # fmt: skip


def test_t7_t9_t10_a_settled_hand_event_by_event() -> None:
    hand = given("carried: 3", anna=WEAK, boris=STRONG, trump="9s")
    hand.when(*LAST_TRICK)
    assert hand.when("anna play 9d") == (
        CardPlayed(seat=ANNA, card=Card("9d")),
        TrickTaken(seat=BORIS, trick=4),
        FinePaid(seat=ANNA, due=4003, paid=4003),
        SharePaid(seat=BORIS, tricks=4, amount=4000),
        CommissionTaken(seat=BORIS, share=4000, amount=160),
        HandSettled(
            hand_id="",
            result=Result(
                ending="played",
                bank=4003,
                carried_bank=4006,
                next_dealer=BORIS,
                players=(
                    result(ANNA, "help", 93_997, fine_due=4003, fine_paid=4003),
                    result(BORIS, "khrap", 101_840, tricks=4, share=4000, commission=160),
                ),
            ),
        ),
    )


@pytest.mark.parametrize(("purse", "paid"), [(2000, 0), (2001, 1), (5999, 3999), (6000, 4000), (6001, 4000)])
def test_t7_a_fine_takes_no_more_than_the_purse(purse: int, paid: int) -> None:
    hand = given(anna=f"{purse}: {WEAK}", boris=STRONG, trump="9s")
    hand.when(*LAST_TRICK)
    events = hand.when("anna play 9d")
    assert events[2] == FinePaid(seat=ANNA, due=4000, paid=paid)
    assert at(hand.hand, ANNA).purse == purse - 2000 - paid


def test_t7_a_share_is_credited_before_the_fine() -> None:
    """The declarer has one trick and nothing else: his share goes into the fine, and no debt arises."""
    hand = given(anna="Ad Kd Qd 7s", boris="2000: As 8d 7d 6h", trump="9d")
    hand.when(
        "boris khrap", "anna help", "boris play As", "anna play 7s", "boris play 6h", "anna play Qd",
        "anna play Ad", "boris play 7d", "anna play Kd",
    )  # fmt: skip
    events = hand.when("boris play 8d")
    assert events[2:6] == (
        SharePaid(seat=ANNA, tricks=3, amount=3000),
        CommissionTaken(seat=ANNA, share=3000, amount=120),
        SharePaid(seat=BORIS, tricks=1, amount=1000),
        FinePaid(seat=BORIS, due=8000, paid=1000),
    )
    assert at(hand.hand, BORIS).purse == 0


def test_t8_with_a_bank_of_nothing_nobody_pays_and_nobody_is_paid() -> None:
    hand = given("stake: 0", anna=f"5: {WEAK}", boris=f"0: {STRONG}", trump="9s")
    assert hand.hand.bank == 0
    hand.when(*LAST_TRICK)
    card, trick, settled = hand.when("anna play 9d")
    assert isinstance(settled, HandSettled)
    assert settled.result.carried_bank == 0
    assert [p.fine_due for p in settled.result.players] == [0, 0]
    assert isinstance(card, CardPlayed)
    assert isinstance(trick, TrickTaken)


def test_t8_nobody_tops_up_with_nothing() -> None:
    hand = given("game: frap", anna=f"2000: {WEAK}", boris=f"3000: {STRONG}", trump="9s", stock="Tc Jc")
    hand.when("boris pass")
    assert hand.when("anna pass")[1:2] == (BankToppedUp(seat=BORIS, amount=1000),)
    hand.when("boris pass")
    assert hand.when("anna pass") == (Declared(seat=ANNA, do="pass"), TrumpTurned(card=Card("Jc"), circle=3))


@pytest.mark.parametrize(("bank", "tricks", "each"), [(0, 4, 0), (3, 4, 0), (4, 4, 1), (4003, 4, 1000)])
def test_t9_the_remainder_of_a_share_stays(bank: int, tricks: int, each: int) -> None:
    assert per_trick(bank, tricks) == each


@pytest.mark.parametrize(
    ("share", "fine_due", "taken"),
    [
        (2000, 0, 0),  # equal to the stake: nothing
        (2001, 0, 80),  # 80.04 rounded down
        (2024, 0, 80),  # 80.96 rounded down
        (2025, 0, 81),
        (6000, 1, 0),  # who is fined pays none
        (MAX_AMOUNT, 0, MAX_AMOUNT * 400 // 10_000),
    ],
)
def test_t10_commission_is_on_the_gross_share_above_the_stake(share: int, fine_due: int, taken: int) -> None:
    assert commission(share, 2000, 400, fine_due) == taken


def test_t10_a_share_equal_to_the_stake_is_free() -> None:
    """Two tricks of 1000 each are the stake of 2000."""
    hand = given(anna="Ah Kh 9d Td", boris="As Ks 7h 8h", trump="9s")
    hand.when(
        "boris khrap", "anna help", "boris play As", "anna play 9d", "boris play Ks", "anna play Td",
        "boris play 7h", "anna play Kh", "anna play Ah",
    )  # fmt: skip
    assert hand.when("boris play 8h")[2:4] == (
        SharePaid(seat=ANNA, tricks=2, amount=2000),
        SharePaid(seat=BORIS, tricks=2, amount=2000),
    )
    assert [p.purse for p in hand.hand.players] == [100_000, 100_000]


def test_n_an_amount_past_64_bits_is_an_error() -> None:
    assert amount(MAX_AMOUNT) == MAX_AMOUNT
    with pytest.raises(AmountOverflow, match=str(MAX_AMOUNT)):
        amount(MAX_AMOUNT + 1)


@pytest.mark.parametrize(
    ("total", "ways", "parts"), [(7, 3, (3, 2, 2)), (0, 2, (0, 0)), (2, 3, (1, 1, 0)), (9, 1, (9,))]
)
def test_t13_a_bank_is_split_to_the_unit(total: int, ways: int, parts: tuple[int, ...]) -> None:
    assert split_evenly(total, ways) == parts


# --- T11: the clock


def test_t11_the_clock_passes_declines_and_draws_none() -> None:
    khrap = given(anna=WEAK, boris=STRONG, vera="6h 6d 6c 7c", trump="9s")
    assert clock_action(khrap.hand).do == "pass"
    khrap.when("boris khrap")
    assert clock_action(khrap.hand).do == "decline"
    khrap.when("vera help", "anna decline")
    assert clock_action(khrap.hand).do == "pass"
    frap = given("game: frap", anna=WEAK, boris=STRONG, trump="9s")
    assert clock_action(frap.hand).do == "pass"
    frap.when("boris frap")
    assert clock_action(frap.hand).do == "pass"
    frap.when("anna whist")
    drawing = clock_action(frap.hand)
    assert (drawing.do, drawing.cards) == ("draw", ())


@pytest.mark.parametrize(
    ("word", "drawn", "gone"),
    [
        ("pyatok", "Kd 7h 7d 6s Ah", "7h"),  # the lowest rank, suits in the order s h d c
        ("pyatok", "Kd Qd 6s 7s 8s", "Qd"),  # a queen before a trump of six
        ("pyatok", "6s 7s 8s Ts Ah", "Ah"),  # an ace before any trump
        ("shestok", "7c 7d 6s 7s 8s Ts", "7d 7c"),
        ("shestok", "Ac 6s 7s 8s Ts Kh", "Kh Ac"),
    ],
)
def test_t11_the_clock_discards_the_lowest_non_trumps_then_trumps(word: str, drawn: str, gone: str) -> None:
    hand = given(anna="Qs Js 8d 9d", boris="As Ks 8h 8c", trump="9s", stock=drawn)
    hand.when("boris khrap", "anna decline", f"anna {word}")
    assert clock_action(hand.hand).cards == tuple(gone.split())


def test_t11_the_clock_plays_the_lowest_legal_card_trumps_last() -> None:
    hand = given(anna="6s 7c 9d Ah", boris="Ks Kc Kd 7h", trump="9s")
    hand.when("boris khrap", "anna help")
    assert clock_action(hand.hand).card == "7h", "a seven before a king, hearts though the trumps hold a king"
    hand.when("boris play 7h")
    assert clock_action(hand.hand).card == "Ah", "the suit led must be followed"
    hand.when("anna play Ah")
    assert clock_action(hand.hand).card == "7c", "the lowest card that is no trump, not the six of trumps"


def test_t11_one_second_only_where_all_know_that_one_choice_is_left() -> None:
    hand = given(
        "options: draw_limit=one_each", anna="6h 7h 8h 9h", boris="As Kc Kd 7s", vera="6d 7d 8d 9d", trump="9s",
        stock="Th Jh Qh Kh Ah Td Jd Qd Ad Tc 6c",
    )  # fmt: skip
    assert not forced(hand.hand)
    hand.when("boris khrap", "vera decline", "anna decline", "vera pyatok")
    assert not forced(hand.hand), "a discard is a choice"
    hand.when("vera discard Th", "anna shestok", "anna discard Td Jd", "vera play Jh")
    assert not forced(hand.hand), "that a hand of several cards has one legal is not known to all"
    hand.when("anna play Qd", "boris play 7s", "boris play As", "vera play Qh", "anna play Ad", "boris play Kc")
    assert not forced(hand.hand)
    hand.when("vera play Kh", "anna play Tc")
    assert forced(hand.hand), "the last card in the hand"


def test_t11_a_pass_is_forced_where_the_stock_is_too_short() -> None:
    hand = given(
        "game: khrap5", anna="6s 7s 8s 9s Ts", boris="6h 7h 8h 9h Th", vera="6d 7d 8d 9d Td",
        gleb="6c 7c 8c 9c Tc", dina="Js Qs Ks As Jh", egor="Qh Kh Ah Jd Qd", trump="Kd",
    )  # fmt: skip
    hand.when("boris khrap", "vera pass", "gleb pass", "dina pass", "egor pass", "anna pass")
    assert not forced(hand.hand), "five cards of the stock may be drawn"
    hand.when("boris draw 6h 7h 8h 9h Th")
    assert forced(hand.hand), "neither cut nor cut_trump can be had"


def test_t11_an_empty_draw_is_forced_where_the_stock_is_empty() -> None:
    hand = given(
        "game: khrap5", anna="6s 7s 8s 9s Ts", boris="6h 7h 8h 9h Th", vera="6d 7d 8d 9d Td",
        gleb="6c 7c 8c 9c Tc", dina="Js Qs Ks As Jh", egor="Qh Kh Ah Jd Qd", trump="Kd",
    )  # fmt: skip
    hand.when("boris khrap", "vera whist", "gleb whist", "dina pass", "egor pass", "anna pass")
    assert not forced(hand.hand)
    hand.when("boris draw 6h 7h 8h 9h")
    assert not forced(hand.hand), "one card of the stock may be drawn"
    hand.when("vera draw 6d")
    assert forced(hand.hand)
    assert offers(hand.hand, GLEB) == (Offer("draw", at(hand.hand, GLEB).cards, 0, 0),)


def test_t11_the_time_bank_is_spent_and_nothing_else_changes() -> None:
    hand = given(anna=WEAK, boris=STRONG, trump="9s").hand
    after = evolve_hand(hand, TimeBankUsed(seat=BORIS, ms=1500))
    assert [p.time_bank_ms for p in after.players] == [20_000, 18_500]
    assert replace(after, players=hand.players) == hand
    assert at(after, ANNA) == at(hand, ANNA)
    assert replace(at(after, BORIS), time_bank_ms=20_000) == at(hand, BORIS)


# --- T12: voided


def test_t12_the_last_deal_allowed_without_a_declarer_voids_the_hand() -> None:
    hand = given(
        "options: max_trump_changes=2 redeal_ante=true max_deals=2\ncarried: 5",
        "anna: 6s 7s 8s 9s\nboris: 6h 7h 8h 9h\ntrump: Ts",
        anna=f"3000: {WEAK}", boris=STRONG, trump="9s",
    )  # fmt: skip
    passes = ("boris pass", "anna pass") * 3
    dealt = hand.when(*passes)
    assert dealt[1:3] == (BankToppedUp(seat=ANNA, amount=1000), BankToppedUp(seat=BORIS, amount=2000))
    assert isinstance(dealt[3], CardsDealt)
    assert hand.hand.bank == 7005
    assert hand.when(*passes) == (
        Declared(seat=ANNA, do="pass"),
        HandVoided(
            hand_id="",
            cause="no_declarer",
            reason="the last deal allowed ended without a declarer",
            returned=(SeatAmount(seat=ANNA, amount=3000), SeatAmount(seat=BORIS, amount=4000)),
            result=Result(
                ending="voided",
                bank=5,
                carried_bank=5,
                next_dealer=ANNA,
                players=(result(ANNA, "passed", 3000), result(BORIS, "passed", 100_000)),
            ),
        ),
    )


def test_t12_a_deal_in_which_the_clock_acted_for_all_voids_the_hand() -> None:
    hand = given("options: max_trump_changes=2", anna=WEAK, boris=STRONG, trump="9s")
    hand.when("boris pass (the clock)", "anna pass", "boris pass", "anna pass (the clock)", "boris pass")
    _, voided = hand.when("anna pass")
    assert isinstance(voided, HandVoided)
    assert voided.cause == "no_declarer"
    assert voided.reason == "the clock acted for every player of a deal without a declarer"
    assert voided.returned == (SeatAmount(seat=ANNA, amount=2000), SeatAmount(seat=BORIS, amount=2000))


def test_t12_one_player_who_acted_himself_keeps_the_hand_going() -> None:
    hand = given(
        "options: max_trump_changes=2", "anna: 6s 7s 8s 9s\nboris: 6h 7h 8h 9h\ntrump: Ts",
        anna=WEAK, boris=STRONG, trump="9s",
    )  # fmt: skip
    hand.when("boris pass (the clock)", "anna pass", *["boris pass (the clock)", "anna pass"])
    events = hand.when("boris pass (the clock)", "anna pass")
    assert isinstance(events[1], CardsDealt)
    assert not any(p.clock_acted for p in hand.hand.players), "the count begins anew with the deal"


def test_t12_ops_void_a_hand_wherever_it_stands() -> None:
    hand = given("carried: 5", anna=f"3000: {WEAK}", boris=STRONG, trump="9s")
    hand.when("boris khrap")
    assert void(hand.hand, "ops", "a power failure", ("olga", "oleg")) == HandVoided(
        hand_id="",
        cause="ops",
        reason="a power failure",
        ops=("olga", "oleg"),
        returned=(SeatAmount(seat=ANNA, amount=2000), SeatAmount(seat=BORIS, amount=2000)),
        result=Result(
            ending="voided",
            bank=5,
            carried_bank=5,
            next_dealer=ANNA,
            players=(result(ANNA, "passed", 3000), result(BORIS, "passed", 100_000)),
        ),
    )


# --- what is offered, and what an exchange makes


def test_k3_to_k15_what_is_offered_in_each_circle() -> None:
    hand = given(anna="6s 7h 8d 9d", boris="As Kh Kd Kc", trump="9s", stock="Ts Jh Qh Ah Jd")
    assert offers(hand.hand, BORIS) == (Offer("khrap"), Offer("ace"), Offer("pass"))
    assert offers(hand.hand, ANNA) == ()
    hand.when("boris khrap")
    assert offers(hand.hand, ANNA) == (Offer("help"), Offer("longing"), Offer("decline"))
    hand.when("anna decline")
    assert offers(hand.hand, ANNA) == (Offer("pyatok"), Offer("shestok"), Offer("pass"))
    hand.when("anna pyatok")
    assert offers(hand.hand, ANNA) == (Offer("discard", tuple(map(Card, ("Ts", "Jh", "Qh", "Ah", "Jd"))), 1, 1),)
    hand.when("anna discard Jd", "anna play Jh")
    assert offers(hand.hand, BORIS) == (Offer("play", (Card("Kh"),), 1, 1),)
    assert offers(hand.hand, 9) == ()


def test_f7_a_draw_event_by_event() -> None:
    hand = given("game: frap", anna=WEAK, boris=STRONG, trump="9s", stock="Tc Jc Qc")
    hand.when("boris frap", "anna whist")
    assert offers(hand.hand, BORIS) == (Offer("draw", tuple(map(Card, STRONG.split())), 0, 4),)
    assert hand.when("boris draw 7h 8h") == (
        CardsDiscarded(hand_id="", seat=BORIS, count=2, cards=(Card("7h"), Card("8h"))),
        CardsDrawn(hand_id="", seat=BORIS, count=2, cards=(Card("Tc"), Card("Jc"))),
    )
    assert hand.when("anna draw (the clock)") == (CardsDrawn(hand_id="", seat=ANNA, count=0, by="clock"),)
    assert at(hand.hand, BORIS).cards == tuple(map(Card, ("As", "Ks", "Tc", "Jc")))


def test_f7_a_draw_names_no_more_than_the_stock_holds() -> None:
    hand = given("game: frap", anna=WEAK, boris=STRONG, trump="9s")
    hand.when("boris frap", "anna whist")
    short = replace(hand.hand, stock=len(hand.hand.deck) - 3)
    refused = judge(short, BORIS, Action(do="draw", cards=at(short, BORIS).cards))
    assert refused == Refused("wrong_discard_count", "F7", "4 cards named, 0 to 3 would be right")


def test_f2_every_discard_looks_for_him() -> None:
    hand = given("game: frap", anna=WEAK, boris=STRONG, vera="7d 8c 7c Tc", trump="9s", stock="Ac Kc Qc Jc Td")
    hand.when("boris frap_blind", "vera pass", "anna pass")
    assert LOOK in offers(hand.hand, BORIS)
    hand.when("boris discard 8h")
    assert offers(hand.hand, BORIS) == ()
    hand.when("vera cut")
    assert LOOK in offers(hand.hand, VERA), "what went away was thrown unseen, what came was not looked at"
    hand.when("vera discard Td")
    assert offers(hand.hand, VERA) == ()
    assert offers(hand.hand, ANNA) == (Offer("cut"), Offer("pass"), LOOK)


@pytest.mark.parametrize(("left", "words"), [(5, "cut cut_trump"), (4, "cut_trump"), (3, "")])
def test_f8_how_much_of_the_stock_cutting_in_needs(left: int, words: str) -> None:
    hand = given("game: frap", anna=WEAK, boris=STRONG, vera="7d 8c 7c Tc", trump="9s")
    hand.when("boris frap", "vera whist", "anna pass", "boris draw", "vera draw")
    short = replace(hand.hand, stock=len(hand.hand.deck) - left)
    assert [o.do for o in offers(short, ANNA)] == [*words.split(), "pass", "look"]


def test_k1_f1_c1_the_deck_goes_by_the_number_of_players() -> None:
    khrap, frap, khrap5 = (newest(name) for name in ("khrap", "frap", "khrap5"))
    assert {khrap.deck_size(KhrapOptions(), n) for n in range(2, 6)} == {36}
    sizes = [frap.deck_size(FrapOptions(), n) for n in range(2, 13)]
    assert sizes == [32, 32, 32, 36, 52, 52, 52, 52, 52, 52, 52]
    assert [frap.deck_size(FrapOptions(deck=36), n) for n in range(2, 9)] == [32, 32, 32, 36, 36, 52, 52]
    assert [frap.deck_size(FrapOptions(deck=52), n) for n in range(2, 9)] == [32, 32, 32, 52, 52, 52, 52]
    assert [khrap5.deck_size(Khrap5Options(), n) for n in range(2, 10)] == [36, 36, 36, 36, 36, 52, 52, 52]
