"""An action answers a decision, and comes from one who is in the hand: H3, T11, F2, T4."""

from __future__ import annotations

import pytest

from domain.events import CardsDealt, CardsLooked, Declared, Settings
from domain.hand import Declaring
from domain.refusal import Code
from tests.domain.table.given import (
    FRAP,
    KHRAP,
    KHRAP5,
    NAMES,
    PAUSE,
    Given,
    act,
    given,
    opened,
    sat,
    stacked,
    start,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
HELPED = stacked(36, "As 6h 7h 8h", "7s Ah Kh Qh", "Ad Kd Qd Jd", then="6c")
THREE = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART)


def test_h3_no_hand_runs() -> None:
    given(*opened(), *sat(0, 1)).when(act("anna", "pass")).refused("hand_over", "H3")
    THREE.taken_by("boris").when(act("anna", "pass")).refused("hand_over", "H3")


def test_t4_who_sat_down_while_the_hand_runs_is_not_in_it() -> None:
    THREE.having(*sat(3)).when(act("gleb", "pass")).refused("not_in_hand", "T4")


def test_h3_it_is_another_ones_turn() -> None:
    THREE.when(act("vera", "pass")).refused("not_your_turn", "K3")
    THREE.when(act("anna", "khrap")).refused("not_your_turn", "K3")


def test_h3_one_who_is_out_has_no_turn() -> None:
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    given_ = given_.done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass"))
    given_.when(act("anna", "play", "Ad")).refused("not_your_turn", "K14")


def test_h3_words_cards_and_suits() -> None:
    THREE.when(act("boris", "help")).refused("not_offered", "K3")
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    given_ = given_.done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"))
    taken = given_.done(act("anna", "pyatok"))
    taken.when(act("anna", "discard", "As")).refused("card_not_held", "K8")
    taken.when(act("anna", "discard", "")).refused("wrong_discard_count", "K8")
    played = given_.done(act("anna", "pass")).done(act("boris", "play", "As"))
    played.when(act("vera", "play", "Ad")).refused("card_not_held", "K15")
    played.when(act("vera", "play", "Ah")).refused("must_follow_suit", "K15")


def test_h3_a_trump_where_the_suit_led_is_lacking() -> None:
    deck = stacked(36, "As 6h 7h 8h", "7c Ah Kh Qh", "Ad Kd Qd Jd", then="6c")
    given_ = given(*opened(), *sat(0, 1, 2)).deal(deck)
    given_ = given_.done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass"))
    given_.done(act("boris", "play", "As")).when(act("vera", "play", "Ah")).refused("must_trump", "K15")


# --- stale turns


def test_t11_an_answer_to_an_old_decision_is_stale_and_so_is_one_to_a_decision_to_come() -> None:
    turn = THREE.table.turn
    after = THREE.done(act("boris", "pass"))
    assert after.table.turn == turn + 1
    after.when(act("boris", "pass", turn=turn)).refused("stale_turn", "T11")
    after.when(act("vera", "pass", turn=turn)).refused("stale_turn", "T11")
    after.when(act("vera", "pass", turn=turn + 2)).refused("stale_turn", "T11")
    after.when(act("vera", "pass", turn=turn + 1)).then(Declared(seat=2, do="pass"))


def test_t11_a_late_click_never_plays_in_the_next_trick() -> None:
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    given_ = given_.done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass"))
    turn = given_.table.turn
    next_trick = given_.done(act("boris", "play", "As"), act("vera", "play", "7s"))
    assert next_trick.asked() == "boris"
    next_trick.when(act("boris", "play", "6h", turn=turn)).refused("stale_turn", "T11")


def test_t11_turns_are_numbered_on_from_hand_to_hand() -> None:
    over = THREE.taken_by("boris")
    assert over.table.turn == THREE.table.turn + 4
    assert over.deal(SUITS_APART).table.turn == over.table.turn + 1


# --- the look


def blind() -> Given:
    return given(*opened(FRAP), *sat(0, 1, 2)).done(start(), after=PAUSE)


def test_f2_a_look_opens_no_turn_and_is_open_out_of_turn() -> None:
    given_ = blind()
    for seat in (0, 1, 2):
        looked = given_.when(act(NAMES[seat], "look")).then(CardsLooked(seat=seat))
        assert looked.table.turn == given_.table.turn
        looked.when(act(NAMES[seat], "look")).refused("not_offered", "F2")


def all_pass(given_: Given, words: int) -> Given:
    for _ in range(words):
        given_ = given_.done(act(given_.asked(), "pass"))
    return given_


def test_f2_a_look_for_an_earlier_turn_of_the_deal_is_good() -> None:
    given_ = blind()
    later = all_pass(given_, 5)
    for turn in range(given_.table.turn, later.table.turn + 1):
        later.when(act("anna", "look", turn=turn)).then(CardsLooked(seat=0))
    later.when(act("anna", "look", turn=later.table.turn + 1)).refused("stale_turn", "T11")
    later.when(act("anna", "look", turn=given_.table.turn - 1)).refused("stale_turn", "T11")


def test_f2_a_look_for_an_earlier_deal_is_stale() -> None:
    first = blind()
    last = all_pass(first, 8)
    redealt = last.when(act(last.asked(), "pass"))
    assert [e.deal_no for e in redealt.events if isinstance(e, CardsDealt)] == [2]
    second = redealt.accepted()
    assert isinstance(second.hand.phase, Declaring)
    second.when(act("anna", "look", turn=last.table.turn)).refused("stale_turn", "T11")
    second.when(act("anna", "look", turn=second.table.turn)).then(CardsLooked(seat=0))


def test_f2_other_actions_of_an_earlier_turn_are_stale() -> None:
    given_ = blind()
    after = given_.done(act(given_.asked(), "pass"))
    after.when(act(after.asked(), "pass", turn=given_.table.turn)).refused("stale_turn", "T11")


@pytest.mark.parametrize(("settings", "clause"), [(KHRAP, "K3"), (KHRAP5, "C2")], ids=["khrap", "khrap5"])
def test_c1_where_cards_are_seen_when_dealt_a_look_is_a_word_like_any(settings: Settings, clause: str) -> None:
    given_ = given(*opened(settings), *sat(0, 1, 2)).done(start(), after=PAUSE)
    for player in ("anna", "boris", "vera"):
        code: Code = "not_offered" if given_.asked() == player else "not_your_turn"
        given_.when(act(player, "look")).refused(code, clause)
