"""Hands that are voided, by the rules or by two of ops: T12."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain.cards import Card
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    Declared,
    HandVoided,
    PlayerSatOut,
    Result,
    SeatAmount,
    TableHalted,
    TableResumed,
    TimeBankUsed,
    VoidProposed,
)
from domain.options import KhrapOptions
from domain.table import running
from tests.domain.table.given import (
    KHRAP,
    LIMIT,
    PAUSE,
    STAKE,
    TIME_BANK,
    TURN,
    Given,
    act,
    clock_act,
    committed,
    dealt_in,
    disclosed,
    given,
    hand_id,
    opened,
    part,
    sat,
    seat,
    stacked,
    start,
    void,
    written,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
ONE_DEAL = replace(KHRAP, options=KhrapOptions(max_deals=1, max_trump_changes=2))
REDEALT = replace(KHRAP, options=KhrapOptions(max_deals=8, max_trump_changes=2, redeal_ante=True))
THREE = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART)
CARRYING = given(written(seat(0), seat(1), seat(2), carried_bank=700, dealer=2, last_dealt_in=dealt_in(0, 2))).deal(
    SUITS_APART, dealer=2
)
FAULT = TableHalted(reason="the books differ", fault=True)


def as_before(carried: int, dealer: int) -> Result:
    """T12: all passed, zeros, purses as before, the same dealer."""
    return Result(
        ending="voided",
        bank=carried,
        carried_bank=carried,
        next_dealer=dealer,
        players=tuple(part(s, "passed", LIMIT) for s in (0, 1, 2)),
    )


def returned(each: int = STAKE) -> tuple[SeatAmount, ...]:
    return tuple(SeatAmount(seat=s, amount=each) for s in (0, 1, 2))


def all_pass(given_: Given, circles: int) -> Given:
    """So many circles of passes, but for the very last word."""
    for _ in range(3 * circles - 1):
        given_ = given_.done(act(given_.asked(), "pass"))
    return given_


def test_t12_the_last_deal_without_a_declarer_voids_the_hand() -> None:
    last = all_pass(given(*opened(ONE_DEAL), *sat(0, 1, 2)).deal(SUITS_APART, dealer=2), 3)
    over = last.when(act("vera", "pass")).then(
        Declared(seat=2, do="pass"),
        HandVoided(
            hand_id=hand_id(1),
            cause="no_declarer",
            reason="the last deal allowed ended without a declarer",
            returned=returned(),
            result=as_before(0, 2),
        ),
        disclosed(1),
        committed(2),
    )
    assert [s.purse for s in over.table.seats] == [LIMIT] * 3
    assert (over.table.dealer, over.table.hand_no, over.table.last_dealt_in) == (2, 1, ())
    assert running(over.table) is None


def test_t12_before_it_the_cards_are_dealt_anew() -> None:
    last = all_pass(given(*opened(REDEALT), *sat(0, 1, 2)).deal(SUITS_APART, dealer=2), 3)
    events = last.when(act("vera", "pass")).events
    assert events[1:4] == tuple(BankToppedUp(seat=s, amount=STAKE) for s in (0, 1, 2))
    dealt = events[4]
    assert isinstance(dealt, CardsDealt)
    assert dealt.deal_no == 2


def test_t12_top_ups_go_back_as_well() -> None:
    second = all_pass(given(*opened(REDEALT), *sat(0, 1, 2)).deal(SUITS_APART, dealer=2), 3)
    second = second.done(act("vera", "pass"))
    assert second.hand.bank == 6 * STAKE
    voided = second.done(void("ops1")).when(void("ops2")).events[0]
    assert isinstance(voided, HandVoided)
    assert voided.returned == returned(2 * STAKE)
    assert voided.result == as_before(0, 2)


def test_t12_a_deal_in_which_the_clock_acted_for_every_one_voids_the_hand() -> None:
    """One of them also acted himself; and the two expiries of each make them sit out."""
    given_ = CARRYING.done(clock_act(), after=TURN + TIME_BANK).done(act("boris", "pass"))
    given_ = given_.done(clock_act(), after=TURN + TIME_BANK)
    for _ in range(8):
        given_ = given_.done(clock_act(), after=TURN + TIME_BANK)
    assert given_.asked() == "vera"
    given_.when(clock_act(), after=TURN).then(
        Declared(seat=2, do="pass", by="clock"),
        HandVoided(
            hand_id=hand_id(1),
            cause="no_declarer",
            reason="the clock acted for every player of a deal without a declarer",
            returned=returned(),
            result=as_before(700, 2),
        ),
        disclosed(1),
        PlayerSatOut(seat=0, player="anna", by="clock"),
        PlayerSatOut(seat=1, player="boris", by="clock"),
        PlayerSatOut(seat=2, player="vera", by="clock"),
        committed(2),
    )


def test_t12_one_who_always_acted_himself_keeps_the_hand_alive() -> None:
    given_ = given(*opened(REDEALT), *sat(0, 1, 2)).deal(SUITS_APART, dealer=2)
    for _ in range(8):
        himself = given_.asked() == "vera"
        given_ = given_.done(act("vera", "pass") if himself else clock_act(), after=TURN + TIME_BANK)
    last = given_.when(act("vera", "pass"))
    assert last.events[0] == Declared(seat=2, do="pass")
    assert [e.deal_no for e in last.events if isinstance(e, CardsDealt)] == [2]


# --- by two of ops


def test_t12_two_named_ops_void_a_running_hand() -> None:
    proposed = CARRYING.when(void("olga", "a broken deck"))
    wanted = proposed.then(VoidProposed(hand_id=hand_id(1), reason="a broken deck", proposer="olga"))
    over = wanted.when(void("pavel", "as olga says")).then(
        HandVoided(
            hand_id=hand_id(1),
            cause="ops",
            reason="a broken deck",
            returned=returned(),
            result=as_before(700, 2),
            ops=("olga", "pavel"),
        ),
        disclosed(1),
        committed(2),
    )
    assert (over.table.carried_bank, over.table.dealer, over.table.last_dealt_in) == (700, 2, dealt_in(0, 2))
    assert [(p.purse, over.hand.bank) for p in over.hand.players] == [(LIMIT, 700)] * 3
    over.when(void("olga")).refused("hand_over", "T12")


def test_t12_the_same_person_does_not_make_two() -> None:
    CARRYING.done(void("olga")).when(void("olga", "again")).refused("two_persons", "T12")


def test_t12_between_hands_there_is_nothing_to_void() -> None:
    given(*opened(), *sat(0, 1)).when(void("olga")).refused("hand_over", "T12")


def test_t12_a_proposal_is_for_one_hand() -> None:
    next_hand = THREE.done(void("olga")).taken_by("boris").deal(SUITS_APART)
    next_hand.when(void("pavel")).then(VoidProposed(hand_id=hand_id(2), reason="a broken deck", proposer="pavel"))


def test_t12_who_was_acted_for_twice_sits_out_after_a_voided_hand_too() -> None:
    given_ = THREE.done(clock_act(), after=TURN + TIME_BANK).done(act("vera", "pass"), act("anna", "pass"))
    given_ = given_.done(clock_act(), after=TURN).done(void("olga"))
    events = given_.when(void("pavel")).events
    assert events[1:] == (disclosed(1), PlayerSatOut(seat=1, player="boris", by="clock"), committed(2))


HELPED = stacked(36, "As 6h 7h 8h", "7s Ah Kh Qh", "Ad Kd Qd Jd", then="6c")


def led() -> Given:
    """A card was led."""
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    words = act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass")
    return given_.done(*words).when(act("boris", "play", "As")).then(CardPlayed(seat=1, card=Card("As")))


def test_t12_once_a_card_was_led_only_where_a_fault_alarm_stands() -> None:
    led().when(void("olga")).refused("not_offered", "T12")
    led().having(TableHalted(reason="a wish")).when(void("olga")).refused("not_offered", "T12")
    halted = led().having(FAULT).done(void("olga"))
    halted.having(TableResumed(reason="a slip")).when(void("pavel")).refused("not_offered", "T12")
    voided = halted.when(void("pavel"))
    assert isinstance(voided.events[0], HandVoided)
    assert [s.purse for s in voided.accepted().table.seats] == [LIMIT] * 3


def test_t12_a_trick_taken_is_a_card_led() -> None:
    taken = led().done(act("vera", "play", "7s"))
    taken.when(void("olga")).refused("not_offered", "T12")


def test_t12_what_was_proposed_before_a_card_was_led_is_too_late_after() -> None:
    given_ = given(*opened(), *sat(0, 1, 2)).deal(HELPED)
    words = act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass")
    proposed = given_.done(*words, void("olga"))
    proposed.done(act("boris", "play", "As")).when(void("pavel")).refused("not_offered", "T12")


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_t12_the_same_dealer_deals_again(dealer: int) -> None:
    given_ = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART, dealer=dealer)
    over = given_.done(void("olga"), void("pavel"))
    assert over.table.dealer == dealer
    assert over.done(start(), after=PAUSE).hand.dealer == dealer


def test_t12_time_that_was_used_stays_used() -> None:
    slow = THREE.when(act("boris", "pass"), after=TURN + 1).then(
        TimeBankUsed(seat=1, ms=1), Declared(seat=1, do="pass")
    )
    assert [p.time_bank_ms for p in slow.done(void("olga"), void("pavel")).hand.players] == [
        TIME_BANK, TIME_BANK - 1, TIME_BANK,
    ]  # fmt: skip
