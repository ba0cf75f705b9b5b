"""The clock: deadlines, the time bank, who sits out after two expiries, and decisions that are no decisions: T11."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.cards import Card
from domain.events import (
    CardPlayed,
    CardsDrawn,
    CardsLooked,
    DeadlinesRenewed,
    Declared,
    PlayerSatOut,
    TimeBankUsed,
)
from domain.hand import at
from domain.table import Deadline, deadline, running
from tests.domain.table.given import (
    FRAP,
    KHRAP,
    NAMES,
    PAUSE,
    TIME_BANK,
    TURN,
    After,
    Given,
    act,
    clock_act,
    come_back,
    committed,
    given,
    leave,
    opened,
    renew,
    sat,
    sit_out,
    stacked,
    start,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
HELPED = stacked(36, "As 6h 7h 8h", "7s Ah Kh Qh", "Ad Kd Qd Jd", then="6c")
THREE = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART)
"""Boris is asked first, then vera, then anna."""
WHOLE = TURN + TIME_BANK


def test_t11_a_decision_has_its_turn_and_then_the_time_bank() -> None:
    opened_at = THREE.now
    due = Deadline(seat=1, turn_ends_ms=opened_at + TURN, clock_acts_ms=opened_at + WHOLE)
    assert deadline(THREE.table) == due


def test_t11_the_time_counts_from_the_recorded_time_of_the_event_that_opened_the_decision() -> None:
    later = THREE.done(act("boris", "pass"), after=7_000)
    assert deadline(later.table) == Deadline(seat=2, turn_ends_ms=later.now + TURN, clock_acts_ms=later.now + WHOLE)


def test_t11_other_events_of_the_table_do_not_open_it_again() -> None:
    later = THREE.having(After(5_000), *sat(4)).done(sit_out("anna"))
    assert deadline(later.table) == deadline(THREE.table)
    assert later.table.turn == THREE.table.turn


def test_t11_no_one_is_asked_between_hands() -> None:
    assert deadline(given(*opened(), *sat(0, 1)).table) is None
    over = THREE.taken_by("boris")
    assert deadline(over.table) is None
    over.when(clock_act(), after=WHOLE).refused("stale_turn", "T11")


def test_t11_an_action_in_time_costs_no_time_bank() -> None:
    THREE.when(act("boris", "pass"), after=TURN).then(Declared(seat=1, do="pass"))


def test_t11_the_time_bank_pays_what_takes_longer_and_it_is_recorded() -> None:
    slow = THREE.when(act("boris", "pass"), after=TURN + 1)
    slow.then(TimeBankUsed(seat=1, ms=1), Declared(seat=1, do="pass"))
    again = THREE.done(act("boris", "pass"), after=TURN + 5_000).done(act("vera", "khrap"), act("anna", "decline"))
    assert deadline(again.table) == Deadline(
        seat=1, turn_ends_ms=again.now + TURN, clock_acts_ms=again.now + TURN + 15_000
    )


def test_t11_until_the_clocks_action_is_recorded_a_players_own_is_good() -> None:
    late = THREE.when(act("boris", "khrap"), after=5 * WHOLE)
    late.then(TimeBankUsed(seat=1, ms=TIME_BANK), Declared(seat=1, do="khrap"))


def test_t11_the_clock_acts_when_the_time_is_over_and_not_before() -> None:
    THREE.when(clock_act(), after=WHOLE - 1).refused("not_offered", "T11")
    acted = THREE.when(clock_act(), after=WHOLE)
    after = acted.then(TimeBankUsed(seat=1, ms=TIME_BANK), Declared(seat=1, do="pass", by="clock"))
    assert after.seat("boris").expiries == 1
    after.when(act("boris", "khrap", turn=THREE.table.turn)).refused("stale_turn", "T11")


def test_t11_the_clock_acts_on_the_open_decision_only() -> None:
    after = THREE.done(act("boris", "pass"))
    after.when(clock_act(turn=THREE.table.turn), after=WHOLE).refused("stale_turn", "T11")
    after.when(clock_act(turn=after.table.turn + 1), after=WHOLE).refused("stale_turn", "T11")


def test_t11_a_time_bank_is_for_one_hand_and_spent_once() -> None:
    spent = THREE.done(clock_act(), after=WHOLE).done(act("vera", "khrap"), act("anna", "decline"))
    assert deadline(spent.table) == Deadline(seat=1, turn_ends_ms=spent.now + TURN, clock_acts_ms=spent.now + TURN)
    spent.when(clock_act(), after=TURN - 1).refused("not_offered", "T11")
    over = spent.when(clock_act(), after=TURN).then(Declared(seat=1, do="decline", by="clock"))
    spent.when(act("boris", "help"), after=TURN + 5_000).then(Declared(seat=1, do="help"))
    next_hand = over.taken_by("vera").deal(SUITS_APART)
    assert [p.time_bank_ms for p in next_hand.hand.players] == [TIME_BANK] * 3


def test_t11_a_table_has_its_own_times() -> None:
    quick = given(*opened(replace(KHRAP, turn_ms=2_000, time_bank_ms=0)), *sat(0, 1, 2)).deal(SUITS_APART)
    quick.when(clock_act(), after=1_999).refused("not_offered", "T11")
    quick.when(clock_act(), after=2_000).then(Declared(seat=1, do="pass", by="clock"))


def test_t11_t3_for_one_who_leaves_the_clock_acts_at_once() -> None:
    leaving = THREE.done(leave("boris"), leave("anna"), after=3_000)
    assert deadline(leaving.table) == Deadline(seat=1, turn_ends_ms=THREE.now, clock_acts_ms=THREE.now)
    leaving.when(act("boris", "khrap")).then(Declared(seat=1, do="khrap"))
    acted = leaving.when(clock_act()).then(Declared(seat=1, do="pass", by="clock"))
    assert deadline(acted.table) == Deadline(seat=2, turn_ends_ms=acted.now + TURN, clock_acts_ms=acted.now + WHOLE)
    at_once = acted.done(act("vera", "khrap"), after=1)
    at_once.when(clock_act()).then(Declared(seat=0, do="decline", by="clock"))


# --- decisions that are none


def forced_draw_circle() -> Given:
    """Three took five cards each, the stock of five players' khrap is gone, and anna is asked."""
    given_ = given(*opened(), *sat(0, 1, 2, 3, 4)).done(start(), after=PAUSE)
    order = [NAMES[(given_.hand.dealer + i) % 5] for i in range(1, 6)]
    declarer, *others = order
    given_ = given_.done(act(declarer, "khrap"), *(act(name, "decline") for name in others))
    for name in others[:3]:
        given_ = given_.done(act(name, "pyatok"))
        held = at(given_.hand, NAMES.index(name)).cards
        given_ = given_.done(act(name, "discard", held[0]))
    return given_


def test_t11_a_draw_circle_without_a_stock_takes_a_second_and_is_no_expiry() -> None:
    forced = forced_draw_circle()
    seat = NAMES.index(forced.asked())
    assert deadline(forced.table) == Deadline(
        seat=seat, turn_ends_ms=forced.now + 1_000, clock_acts_ms=forced.now + 1_000
    )
    forced.when(clock_act(), after=999).refused("not_offered", "T11")
    done = forced.when(clock_act(), after=1_000)
    assert done.events[0] == Declared(seat=seat, do="pass", by="clock")
    assert [s.expiries for s in done.accepted().table.seats] == [0] * 5
    own = forced.when(act(NAMES[seat], "pass"), after=500)
    assert own.events[0] == Declared(seat=seat, do="pass")


def test_t11_the_last_card_takes_a_second_and_is_no_expiry() -> None:
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    given_ = given_.done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass"))
    for player, card in (
        ("boris", "As"),
        ("vera", "7s"),
        ("boris", "6h"),
        ("vera", "Ah"),
        ("vera", "Kh"),
        ("boris", "7h"),
    ):
        given_ = given_.done(act(player, "play", card))
    last = given_.when(clock_act(), after=1_000).then(CardPlayed(seat=2, card=Card("Qh"), by="clock"))
    assert [s.expiries for s in last.table.seats] == [0, 0, 0]
    assert last.when(clock_act(), after=1_000).events[0] == CardPlayed(seat=1, card=Card("8h"), by="clock")


def test_t11_a_draw_from_an_empty_stock_takes_a_second_and_is_no_expiry() -> None:
    """Twelve are dealt in, three cards are left, and the declarer draws them."""
    given_ = given(*opened(FRAP), *sat(*range(12))).done(start(), after=PAUSE)
    hand = given_.hand
    order = [NAMES[(hand.dealer + i) % 12] for i in range(1, 13)]
    declarer, whister, *others = order
    given_ = given_.done(act(declarer, "frap"), act(whister, "whist"), *(act(name, "pass") for name in others))
    held = at(hand, NAMES.index(declarer)).cards
    given_ = given_.done(act(declarer, "draw", " ".join(held[:3])))
    given_.when(clock_act(), after=999).refused("not_offered", "T11")
    seat = NAMES.index(whister)
    drawn = given_.when(clock_act(), after=1_000).events[0]
    assert drawn == CardsDrawn(hand_id=hand.hand_id, seat=seat, count=0, by="clock")
    assert all(s.expiries == 0 for s in given_.done(clock_act(), after=1_000).table.seats)


# --- two expiries in a row


def test_t11_two_expiries_in_a_row_and_he_sits_out_after_the_hand() -> None:
    twice = THREE.done(clock_act(), after=WHOLE).done(act("vera", "khrap"), act("anna", "decline"))
    twice = twice.done(clock_act(), after=TURN).done(act("anna", "pass"))
    assert not twice.seat("boris").sitting_out
    last = twice.when(act("boris", "pass", turn=twice.table.turn))
    assert PlayerSatOut(seat=1, player="boris", by="clock") not in last.events
    ended = twice.when(clock_act(), after=TURN)
    assert ended.events[-2:] == (PlayerSatOut(seat=1, player="boris", by="clock"), committed(2))
    out = ended.accepted()
    assert [(s.expiries, s.sitting_out) for s in out.table.seats] == [(0, False), (3, True), (0, False)]
    back = out.done(come_back("boris"))
    assert [(s.expiries, s.sitting_out) for s in back.table.seats] == [(0, False), (0, False), (0, False)]


def test_t11_expiries_are_counted_across_hands() -> None:
    once = THREE.done(clock_act(), after=WHOLE).done(act("vera", "khrap"), act("anna", "decline"))
    # Boris declines by himself, which ends the streak; then the clock passes for him.
    once = once.done(act("boris", "decline")).done(act("anna", "pass")).done(clock_act(), after=TURN)
    assert [s.expiries for s in once.table.seats] == [0, 1, 0]
    next_hand = once.deal(SUITS_APART, dealer=0).done(clock_act(), after=WHOLE)
    assert [s.expiries for s in next_hand.table.seats] == [0, 2, 0]
    ended = next_hand.done(act("vera", "khrap"), act("anna", "decline")).done(clock_act(), after=TURN)
    ended = ended.done(act("anna", "pass"))
    assert PlayerSatOut(seat=1, player="boris", by="clock") in ended.when(clock_act(), after=TURN).events


def test_t11_an_own_action_ends_the_streak() -> None:
    once = THREE.done(clock_act(), after=WHOLE).done(act("vera", "khrap"), act("anna", "decline"))
    assert [s.expiries for s in once.table.seats] == [0, 1, 0]
    assert [s.expiries for s in once.done(act("boris", "help")).table.seats] == [0, 0, 0]


def test_t11_so_does_a_look() -> None:
    blind = given(*opened(FRAP), *sat(0, 1, 2)).done(start(), after=PAUSE)
    first = blind.asked()
    expired = blind.done(clock_act(), after=WHOLE)
    assert expired.seat(first).expiries == 1
    looked = expired.when(act(first, "look")).then(CardsLooked(seat=NAMES.index(first)))
    assert looked.seat(first).expiries == 0


def test_t11_who_sits_out_or_leaves_already_is_not_made_to_sit_out() -> None:
    twice = THREE.done(clock_act(), after=WHOLE).done(act("vera", "khrap"), act("anna", "decline"))
    twice = twice.done(clock_act(), after=TURN).done(act("anna", "pass"))
    for leaving in (twice.done(sit_out("boris")), twice.done(leave("boris"))):
        ended = leaving.when(clock_act(), after=TURN)
        assert not [e for e in ended.events if isinstance(e, PlayerSatOut)]


# --- the clock was away


def test_t11_after_the_clock_was_away_the_open_decision_gets_its_full_time_anew() -> None:
    slow = THREE.done(act("boris", "pass"), after=TURN + 4_000)
    late = slow.when(renew(), after=10 * WHOLE).then(DeadlinesRenewed())
    assert deadline(late.table) == Deadline(seat=2, turn_ends_ms=late.now + TURN, clock_acts_ms=late.now + WHOLE)
    assert late.table.turn == slow.table.turn
    late.when(clock_act(), after=WHOLE - 1).refused("not_offered", "T11")
    late.when(act("vera", "pass"), after=TURN).then(Declared(seat=2, do="pass"))


def test_t11_only_the_open_decision_is_renewed() -> None:
    given(*opened(), *sat(0, 1)).when(renew()).refused("stale_turn", "T11")
    THREE.when(renew(turn=THREE.table.turn + 1)).refused("stale_turn", "T11")
    THREE.done(act("boris", "pass")).when(renew(turn=THREE.table.turn)).refused("stale_turn", "T11")


@pytest.mark.parametrize("seats", [2, 3])
def test_t11_t12_a_table_that_all_have_left_alone_comes_to_rest(seats: int) -> None:
    given_ = given(*opened(), *sat(*range(seats))).done(start(), after=PAUSE)
    while running(given_.table) is not None:
        given_ = given_.done(clock_act(), after=WHOLE)
    assert all(s.sitting_out for s in given_.table.seats)
    assert given_.table.ready_at_ms is None
    given_.when(start(), after=PAUSE).refused("not_offered", "T4")
