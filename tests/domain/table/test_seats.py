"""Sitting out, coming back, topping up, leaving, and who is made to leave: T3."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.decide_seats import idle_due_ms
from domain.events import (
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSatOut,
    PurseToppedUp,
    TableClosing,
    TableHalted,
)
from tests.domain.table.given import (
    LIMIT,
    MINUTE,
    PAUSE,
    STAKE,
    T0,
    After,
    Given,
    Make,
    act,
    auto_top_up,
    come_back,
    complete_leave,
    given,
    leave,
    opened,
    remove_idle,
    sat,
    seat,
    seed,
    sit,
    sit_out,
    stacked,
    start,
    top_up,
    written,
)

THREE = (*opened(), *sat(0, 1, 2))
DECK = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
TWO_HANDS = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", then="6c")
RUNNING = given(*THREE).deal(DECK)
HALTED = TableHalted(reason="books")


@pytest.mark.parametrize(
    "command",
    [
        top_up("zoya", 1),
        auto_top_up("zoya"),
        sit_out("zoya"),
        come_back("zoya"),
        leave("zoya"),
        complete_leave("zoya"),
        remove_idle("zoya"),
        seed("zoya", "aa"),
        act("zoya", "pass"),
    ],
)
def test_t3_who_does_not_sit_here_is_told_so(command: Make) -> None:
    given(*THREE).when(command).refused("not_seated", "T3")
    RUNNING.when(command).refused("not_seated", "T3")


# --- sitting out


def test_t3_sitting_out_and_coming_back() -> None:
    out = given(*THREE).when(sit_out("boris")).then(PlayerSatOut(seat=1, player="boris"))
    out.when(sit_out("boris")).refused("not_offered", "T3")
    back = out.when(come_back("boris")).then(PlayerReturned(seat=1, player="boris"))
    back.when(come_back("boris")).refused("not_offered", "T3")


def test_t3_for_one_who_is_dealt_in_it_takes_effect_after_the_hand() -> None:
    out = RUNNING.when(sit_out("boris")).then(PlayerSatOut(seat=1, player="boris"))
    assert [p.player for p in out.hand.players] == ["anna", "boris", "vera"]
    after = out.taken_by("boris").done(start(), after=PAUSE)
    assert [p.player for p in after.hand.players] == ["anna", "vera"]


def test_t3_who_comes_back_before_the_hand_is_over_is_dealt_into_the_next() -> None:
    after = RUNNING.done(sit_out("boris"), come_back("boris")).taken_by("boris").done(start(), after=PAUSE)
    assert [p.player for p in after.hand.players] == ["anna", "boris", "vera"]


# --- topping up


def test_t3_topping_up_between_hands() -> None:
    after = given(*THREE).when(top_up("boris", 5)).then(PurseToppedUp(seat=1, player="boris", amount=5))
    assert after.seat("boris") == replace(seat(1), purse=LIMIT + 5)


def test_t3_nobody_tops_up_who_is_in_a_hand() -> None:
    RUNNING.when(top_up("boris", 5)).refused("in_hand", "T3")
    over = RUNNING.taken_by("boris")
    over.when(top_up("boris", 5)).then(PurseToppedUp(seat=1, player="boris", amount=5))


def test_t3_one_who_is_not_dealt_in_tops_up_while_a_hand_runs() -> None:
    after = RUNNING.having(*sat(3)).when(top_up("gleb", 5))
    after.then(PurseToppedUp(seat=3, player="gleb", amount=5))


def test_t3_nobody_tops_up_who_leaves_or_at_a_table_that_closes() -> None:
    given(*THREE, HALTED).done(leave("boris")).when(top_up("boris", 5)).refused("not_offered", "T3")
    given(*THREE, TableClosing(reason="late")).when(top_up("boris", 5)).refused("table_closing", "T13")


def wanting(purse: int) -> Given:
    """Boris wants to be topped up to his buy-in of `LIMIT` and has `purse`."""
    return given(written(seat(0), replace(seat(1, purse), auto_top_up=True), seat(2, 1)))


def test_t3_automatic_top_ups_go_up_to_the_buy_in() -> None:
    after = wanting(3_000).when(auto_top_up("boris"))
    topped = after.then(PurseToppedUp(seat=1, player="boris", amount=LIMIT - 3_000))
    topped.when(auto_top_up("boris")).refused("not_offered", "T3")


def test_t3_the_smallest_unit_that_lacks_is_topped_up() -> None:
    wanting(LIMIT - 1).when(auto_top_up("boris")).then(PurseToppedUp(seat=1, player="boris", amount=1))


def test_t3_the_buy_in_is_what_he_sat_down_with() -> None:
    sitting = given(*opened(), *sat(0)).done(sit("boris", 50_000, auto_top_up=True), top_up("boris", 1))
    boris = sitting.seat("boris")
    assert boris is not None
    assert (boris.purse, boris.buy_in) == (50_001, 50_000)


def test_t3_automatic_top_ups_are_for_those_who_chose_them_between_hands() -> None:
    wanting(3_000).when(auto_top_up("vera")).refused("not_offered", "T3")
    wanting(LIMIT).when(auto_top_up("boris")).refused("not_offered", "T3")
    wanting(3_000).deal(TWO_HANDS).when(auto_top_up("boris")).refused("not_offered", "T3")
    wanting(3_000).having(TableClosing(reason="late")).when(auto_top_up("boris")).refused("not_offered", "T3")
    wanting(3_000).having(HALTED).done(leave("boris")).when(auto_top_up("boris")).refused("not_offered", "T3")


# --- leaving


def test_t3_between_hands_a_player_leaves_at_once() -> None:
    after = given(*THREE).when(leave("boris")).then(PlayerLeft(seat=1, player="boris", purse=LIMIT))
    assert [s.player for s in after.table.seats] == ["anna", "vera"]


def test_t3_one_who_is_not_dealt_in_leaves_at_once_while_a_hand_runs() -> None:
    RUNNING.having(*sat(3)).when(leave("gleb")).then(PlayerLeft(seat=3, player="gleb", purse=LIMIT))


def test_t3_one_who_is_dealt_in_leaves_after_the_hand() -> None:
    asked = RUNNING.when(leave("boris")).then(LeaveRequested(seat=1, player="boris"))
    asked.when(leave("boris")).refused("not_offered", "T3")
    asked.when(sit_out("boris")).refused("not_offered", "T3")
    asked.when(complete_leave("boris")).refused("in_hand", "T3")
    over = asked.taken_by("vera")
    assert over.table.hand_no == 1
    gone = over.when(complete_leave("boris")).then(PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE))
    gone.when(complete_leave("boris")).refused("not_seated", "T3")


def test_t3_who_asked_to_leave_is_dealt_in_no_more_though_his_purse_is_still_here() -> None:
    next_hand = RUNNING.done(leave("boris")).taken_by("vera").done(start(), after=PAUSE)
    assert [p.player for p in next_hand.hand.players] == ["anna", "vera"]
    next_hand.when(complete_leave("boris")).then(PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE))


def test_t3_who_sits_out_may_not_come_back_once_he_leaves() -> None:
    leaving = RUNNING.done(sit_out("boris"), leave("boris"))
    leaving.when(come_back("boris")).refused("not_offered", "T3")


def test_t3_who_has_not_asked_to_leave_stays() -> None:
    given(*THREE).when(complete_leave("boris")).refused("not_offered", "T3")
    RUNNING.when(complete_leave("boris")).refused("not_offered", "T3")


# --- who is made to leave


def test_t3_who_has_been_sitting_out_for_10_minutes_is_made_to_leave() -> None:
    out = given(*THREE, After(5_000), PlayerSatOut(seat=1, player="boris"))
    out.when(remove_idle("boris"), after=10 * MINUTE - 1).refused("not_offered", "T3")
    left = PlayerLeft(seat=1, player="boris", purse=LIMIT, reason="idle")
    out.when(remove_idle("boris"), after=10 * MINUTE).then(left)


def test_t3_so_is_who_has_been_short() -> None:
    short = RUNNING.having(*sat(3)).done(sit_out("gleb"))
    assert short.table.seats[3].idle_since_ms == short.now
    poor = given(written(seat(0), seat(1), seat(2, STAKE + 1))).deal(
        stacked(36, "6s 7s 8s 9s", "Ah Kh Qh Jh", "As Ks Qs Js", then="6c"), dealer=2
    )
    after = poor.taken_by("anna")
    assert after.table.seats[2].purse == 1
    assert after.table.seats[2].idle_since_ms == after.now
    after.when(remove_idle("vera"), after=10 * MINUTE - 1).refused("not_offered", "T3")
    after.when(remove_idle("vera"), after=10 * MINUTE).then(PlayerLeft(seat=2, player="vera", purse=1, reason="idle"))


def test_t3_nobody_is_made_to_leave_who_is_ready_or_in_a_hand() -> None:
    given(*THREE).when(remove_idle("boris"), after=100 * MINUTE).refused("not_offered", "T3")
    RUNNING.done(sit_out("boris")).when(remove_idle("boris"), after=100 * MINUTE).refused("not_offered", "T3")


def test_t3_who_sits_out_in_the_course_of_a_hand_is_idle_from_its_end_on() -> None:
    """It was from the moment on when he said so, though he was in the hand."""
    over = RUNNING.done(sit_out("boris")).having(After(9 * MINUTE)).taken_by("vera")
    over.when(remove_idle("boris"), after=10 * MINUTE - 1).refused("not_offered", "T3")
    left = PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE, reason="idle")
    over.when(remove_idle("boris"), after=10 * MINUTE).then(left)


def test_t3_who_comes_back_and_sits_out_again_is_counted_on() -> None:
    """It was counted anew each time: who came back for a moment every nine minutes kept his seat for ever."""
    out = given(*THREE, PlayerSatOut(seat=1, player="boris"), After(9 * MINUTE))
    again = out.done(come_back("boris"), sit_out("boris"))
    again.when(remove_idle("boris"), after=MINUTE - 1).refused("not_offered", "T3")
    left = PlayerLeft(seat=1, player="boris", purse=LIMIT, reason="idle")
    again.when(remove_idle("boris"), after=MINUTE).then(left)


def test_t3_who_is_ready_waits_for_a_hand_as_long_as_he_likes_and_it_does_not_count() -> None:
    out = given(*opened(), *sat(0, 1), PlayerSatOut(seat=0, player="anna"), After(9 * MINUTE))
    waiting = out.done(come_back("anna"), sit_out("boris")).having(After(60 * MINUTE))
    waiting.when(remove_idle("anna")).refused("not_offered", "T3")
    assert idle_due_ms(waiting.table, waiting.seat("anna")) is None
    again = waiting.done(sit_out("anna"))
    again.when(remove_idle("anna"), after=MINUTE - 1).refused("not_offered", "T3")
    left = PlayerLeft(seat=0, player="anna", purse=LIMIT, reason="idle")
    again.when(remove_idle("anna"), after=MINUTE).then(left)


def test_t3_who_is_dealt_in_is_counted_anew() -> None:
    out = given(*THREE, PlayerSatOut(seat=1, player="boris"), After(9 * MINUTE))
    dealt = out.done(come_back("boris")).deal(DECK)
    assert (dealt.seat("boris").idle_since_ms, dealt.seat("boris").idle_hands) == (None, 0)
    over = dealt.taken_by("vera").done(sit_out("boris"))
    over.when(remove_idle("boris"), after=10 * MINUTE - 1).refused("not_offered", "T3")
    left = PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE, reason="idle")
    over.when(remove_idle("boris"), after=10 * MINUTE).then(left)


def test_t3_who_is_short_and_tops_up_is_ready_once_he_holds_the_stake() -> None:
    short = replace(seat(1, 1), idle_since_ms=T0 - MINUTE, idle_hands=19)
    still = given(written(seat(0), short)).done(top_up("boris", 1))
    assert still.table.seats[1] == replace(short, purse=2)
    topped = given(written(seat(0), short)).done(top_up("boris", STAKE))
    assert topped.table.seats[1] == replace(short, purse=STAKE + 1, idle_since_ms=MINUTE)
    assert topped.done(start(), after=PAUSE).seat("boris") == seat(1, STAKE + 1)


def idle_after(hands: int) -> Given:
    """Gleb has sat out so many hands, the last of them running."""
    given_ = given(*opened(), *sat(0, 1, 2, buy_in=2 * LIMIT), *sat(3), PlayerSatOut(seat=3, player="gleb"))
    for hand in range(hands):
        given_ = (given_.taken_by("boris") if hand else given_).done(start(), after=PAUSE)
    return given_


def test_t3_who_has_been_sitting_out_for_20_hands_is_made_to_leave_when_the_last_is_over() -> None:
    running = idle_after(20)
    running.when(remove_idle("gleb")).refused("not_offered", "T3")
    over = running.taken_by("boris")
    assert over.table.hand_no == 20
    assert idle_due_ms(over.table, over.table.seats[3]) is not None
    over.when(remove_idle("gleb")).then(PlayerLeft(seat=3, player="gleb", purse=LIMIT, reason="idle"))


def test_t3_or_later_while_another_hand_runs() -> None:
    running = idle_after(21)
    running.when(remove_idle("gleb")).then(PlayerLeft(seat=3, player="gleb", purse=LIMIT, reason="idle"))


def test_t3_19_hands_are_not_enough_and_coming_back_between_them_does_not_help() -> None:
    over = idle_after(19).taken_by("boris")
    over.when(remove_idle("gleb")).refused("not_offered", "T3")
    back = over.done(come_back("gleb"), sit_out("gleb")).done(start(), after=PAUSE)
    back.when(remove_idle("gleb")).refused("not_offered", "T3")
    left = PlayerLeft(seat=3, player="gleb", purse=LIMIT, reason="idle")
    back.taken_by("boris").when(remove_idle("gleb")).then(left)


def test_t3_nobody_is_made_to_leave_a_halted_table() -> None:
    out = given(*THREE, PlayerSatOut(seat=1, player="boris"), HALTED)
    out.when(remove_idle("boris"), after=10 * MINUTE).refused("table_halted", "T3")


# --- how many acts


def test_t3_so_many_acts_a_minute_between_hands() -> None:
    given_ = given(*opened(), *sat(0, 1))
    for _ in range(9):
        given_ = given_.done(sit_out("anna"), come_back("anna"), after=3_000)
    twenty = given_.done(sit_out("anna"))
    refused = [come_back("anna"), top_up("anna", 1), seed("anna", "aa")]
    for command in refused:
        twenty.when(command, after=MINUTE - 9 * 3_000 - 1).refused("too_many_requests", "T3")
    given_.done(top_up("anna", 1)).when(sit_out("anna")).refused("too_many_requests", "T3")
    twenty.when(come_back("anna"), after=MINUTE - 9 * 3_000).then(PlayerReturned(seat=0, player="anna"))


def test_t3_one_players_acts_are_not_anothers_and_anyone_may_leave() -> None:
    given_ = given(*opened(), *sat(0, 1))
    for _ in range(19):
        given_ = given_.done(top_up("anna", 1))
    given_.when(top_up("anna", 1)).refused("too_many_requests", "T3")
    given_.when(top_up("boris", 1)).then(PurseToppedUp(seat=1, player="boris", amount=1))
    left = given_.when(leave("anna")).then(PlayerLeft(seat=0, player="anna", purse=LIMIT + 19))
    left.when(sit("anna", LIMIT + 19)).refused("too_many_requests", "T3")


def test_t3_a_hand_begins_the_count_anew() -> None:
    given_ = given(*opened(), *sat(0, 1))
    for _ in range(18):
        given_ = given_.done(top_up("anna", 1))
    running = given_.done(seed("anna", "aa")).done(start(), after=PAUSE)
    running.when(sit_out("anna")).then(PlayerSatOut(seat=0, player="anna"))


def test_t11_what_the_clock_does_is_no_act_of_his() -> None:
    by_clock = given(*opened(), *sat(0, 1), After(MINUTE), PlayerSatOut(seat=0, player="anna", by="clock"))
    own = given(*opened(), *sat(0, 1), After(MINUTE), PlayerSatOut(seat=0, player="anna"))
    assert [a.count for a in by_clock.table.acts if a.player == "anna"] == [1]
    assert [(a.count, a.since_ms) for a in own.table.acts if a.player == "anna"] == [(1, own.now)]
    assert [a.since_ms for a in by_clock.table.acts if a.player == "anna"] == [by_clock.now - MINUTE]
