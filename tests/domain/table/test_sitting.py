"""Sitting down, coming back and the limits of a table's money: T1, T2."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.events import HandSettled, PlayerLeft, PlayerSat, PurseToppedUp, Result, TableClosing, TableHalted
from domain.table import money
from tests.domain.table.given import (
    KHRAP,
    LIMIT,
    MINUTE,
    STAKE,
    Given,
    auto_top_up,
    dealt_in,
    given,
    hand_id,
    leave,
    opened,
    part,
    sat,
    seat,
    sit,
    stacked,
    top_up,
    written,
)

TABLE_LIMIT = 2**50
DECK = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
HALF_HOUR = 30 * MINUTE


def test_t2_who_sits_down_takes_the_lowest_free_seat() -> None:
    given(*opened()).when(sit("vera")).then(PlayerSat(seat=0, player="vera", buy_in=LIMIT))
    given(*opened(), *sat(0, 2)).when(sit("dina")).then(PlayerSat(seat=1, player="dina", buy_in=LIMIT))


def test_t2_who_sits_down_may_name_a_seat_and_ask_for_top_ups() -> None:
    after = given(*opened()).when(sit("vera", 50_000, seat=4, auto_top_up=True))
    after.then(PlayerSat(seat=4, player="vera", buy_in=50_000, auto_top_up=True))


def test_t2_seats_stay_in_order() -> None:
    table = given(*opened(), *sat(3, 0, 4)).table
    assert [s.seat for s in table.seats] == [0, 3, 4]


def test_t2_at_least_the_entry_limit() -> None:
    given(*opened()).when(sit("vera", LIMIT - 1)).refused("below_entry_limit", "T2")
    given(*opened()).when(sit("vera", LIMIT)).then(PlayerSat(seat=0, player="vera", buy_in=LIMIT))


def test_t2_a_player_sits_once() -> None:
    given(*opened(), *sat(0)).when(sit("anna", seat=3)).refused("already_seated", "T2")


def test_t2_a_seat_is_one_players() -> None:
    given(*opened(), *sat(0)).when(sit("boris", seat=0)).refused("seat_taken", "T2")


def test_t1_a_table_has_so_many_seats() -> None:
    full = given(*opened(), *sat(0, 1, 2, 3, 4))
    full.when(sit("egor")).refused("table_full", "T1")
    full.when(sit("egor", seat=4)).refused("seat_taken", "T2")
    given(*opened(), *sat(0)).when(sit("egor", seat=5)).refused("table_full", "T1")


def test_t13_nobody_sits_down_at_a_table_that_closes() -> None:
    given(*opened(), TableClosing(reason="late")).when(sit("anna")).refused("table_closing", "T13")


def test_t3_nobody_sits_down_at_a_halted_table() -> None:
    given(*opened(), TableHalted(reason="books")).when(sit("anna")).refused("table_halted", "T3")


def test_t2_a_player_may_sit_down_while_a_hand_runs() -> None:
    running = given(*opened(), *sat(0, 1, 2)).deal(DECK)
    after = running.when(sit("gleb")).then(PlayerSat(seat=3, player="gleb", buy_in=LIMIT))
    assert [p.seat for p in after.hand.players] == [0, 1, 2]


# --- coming back


def gone(purse: int, *, carried_bank: int = 0) -> Given:
    """Vera has left with `purse`; anna and boris stay."""
    return given(
        written(seat(0), seat(1), seat(2, purse), carried_bank=carried_bank, last_dealt_in=dealt_in(0, 1, 2))
    ).done(leave("vera"))


def test_t2_who_comes_back_within_30_minutes_brings_what_he_took_away() -> None:
    left = gone(100_000)
    left.when(sit("vera", 99_999), after=HALF_HOUR - 1).refused("below_entry_limit", "T2")
    left.when(sit("vera", 100_000), after=HALF_HOUR - 1).then(PlayerSat(seat=2, player="vera", buy_in=100_000))
    left.when(sit("vera", LIMIT), after=HALF_HOUR).then(PlayerSat(seat=2, player="vera", buy_in=LIMIT))


def test_t2_what_he_took_away_binds_nobody_else() -> None:
    gone(100_000).when(sit("gleb", LIMIT)).then(PlayerSat(seat=2, player="gleb", buy_in=LIMIT))


def test_t2_who_took_away_little_brings_the_entry_limit() -> None:
    gone(0).when(sit("vera", LIMIT - 1)).refused("below_entry_limit", "T2")
    gone(0).when(sit("vera", LIMIT)).then(PlayerSat(seat=2, player="vera", buy_in=LIMIT))


def test_t2_it_binds_while_the_bank_is_carried_that_was_carried_when_he_left() -> None:
    left = gone(100_000, carried_bank=6_000)
    left.when(sit("vera", 99_999), after=10 * HALF_HOUR).refused("below_entry_limit", "T2")
    left.when(sit("vera", 100_000), after=10 * HALF_HOUR).then(PlayerSat(seat=2, player="vera", buy_in=100_000))


TWO_HANDS = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", then="6c")


def settled(carried_bank: int, share: int = 0) -> HandSettled:
    """The first hand settles, between anna and boris, with such a share for anna."""
    bank = 2 * STAKE
    players = (part(0, "khrap", LIMIT - STAKE + share, share=share), part(1, "help", LIMIT - STAKE))
    result = Result(ending="played", bank=bank, carried_bank=carried_bank, next_dealer=0, players=players)
    return HandSettled(hand_id=hand_id(1), result=result)


def test_t2_a_hand_that_pays_shares_ends_that_bank() -> None:
    played = gone(100_000, carried_bank=6_000).deal(TWO_HANDS).having(settled(3, share=9_997))
    assert played.table.carried_bank == 3
    played.when(sit("vera", LIMIT), after=HALF_HOUR).then(PlayerSat(seat=2, player="vera", buy_in=LIMIT))


def test_t2_a_hand_that_pays_none_does_not_end_it() -> None:
    played = gone(100_000, carried_bank=6_000).deal(TWO_HANDS).having(settled(10_000))
    played.when(sit("vera", 99_999), after=HALF_HOUR).refused("below_entry_limit", "T2")


def test_t2_a_bank_that_began_after_he_left_does_not_bind_him() -> None:
    """It did, where no share had been paid meanwhile: no bank and the next one were the same bank."""
    played = gone(100_000).deal(TWO_HANDS).having(settled(4_000))
    played.when(sit("vera", LIMIT), after=HALF_HOUR).then(PlayerSat(seat=2, player="vera", buy_in=LIMIT))


def test_t2_a_bank_that_was_given_back_does_not_bind_him() -> None:
    """It did once the next bank was there."""
    empty = gone(100_000, carried_bank=6_000).done(leave("anna"), leave("boris"))
    assert empty.table.carried_bank == 0
    empty.when(sit("vera", LIMIT), after=HALF_HOUR).then(PlayerSat(seat=0, player="vera", buy_in=LIMIT))
    again = empty.having(*sat(0, 1)).deal(TWO_HANDS).having(settled(4_000))
    again.when(sit("vera", LIMIT), after=HALF_HOUR).then(PlayerSat(seat=2, player="vera", buy_in=LIMIT))


def test_t2_sitting_down_wipes_out_what_was_taken_away() -> None:
    back = gone(100_000).done(sit("vera", 100_000), leave("vera"))
    assert [d.player for d in back.table.departures] == ["vera"]
    assert gone(100_000).done(sit("vera", 100_000)).table.departures == ()


def test_t2_departures_that_bind_no_more_are_forgotten() -> None:
    left = gone(100_000).done(leave("boris"), after=HALF_HOUR)
    assert [d.player for d in left.table.departures] == ["boris"]


# --- the limit


def test_t1_purses_and_bank_never_pass_2_to_50() -> None:
    rich = given(written(seat(0, TABLE_LIMIT - 100_000), seat(1, 50_000), carried_bank=10_000))
    rich.when(sit("vera", 40_001)).refused("table_limit", "T1")
    full = rich.when(sit("vera", 40_000)).then(PlayerSat(seat=2, player="vera", buy_in=40_000))
    assert money(full.table) == TABLE_LIMIT
    rich.when(top_up("boris", 40_001)).refused("table_limit", "T1")
    rich.when(top_up("boris", 40_000)).then(PurseToppedUp(seat=1, player="boris", amount=40_000))


def test_t1_the_limit_holds_for_automatic_top_ups_and_while_a_hand_runs() -> None:
    wants = replace(seat(1, 10_000), auto_top_up=True)
    given(written(seat(0, TABLE_LIMIT - 39_999), wants)).when(auto_top_up("boris")).refused("table_limit", "T1")
    running = given(written(seat(0, TABLE_LIMIT - 80_000), seat(1))).deal(
        stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", then="6c")
    )
    running.when(sit("vera", 40_001)).refused("table_limit", "T1")
    running.when(sit("vera", 40_000)).then(PlayerSat(seat=2, player="vera", buy_in=40_000))


def test_t1_a_low_entry_limit() -> None:
    low = replace(KHRAP, entry_limit=STAKE)
    given(*opened(low)).when(sit("anna", STAKE - 1)).refused("below_entry_limit", "T2")
    given(*opened(low)).when(sit("anna", STAKE)).then(PlayerSat(seat=0, player="anna", buy_in=STAKE))


@pytest.mark.parametrize("reason", ["left", "idle"])
def test_t2_whoever_is_gone_took_his_purse_away(reason: str) -> None:
    event = PlayerLeft(seat=2, player="vera", purse=100_000, reason="idle" if reason == "idle" else "left")
    after = given(written(seat(0), seat(1), seat(2, 100_000)), event)
    after.when(sit("vera", 99_999)).refused("below_entry_limit", "T2")
