"""A table opens, and a hand starts: T1, T4, T5, T14."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from domain import shuffle
from domain.commands import OpenTable
from domain.decide import decide
from domain.events import (
    CardsDealt,
    HandStarted,
    PlayerSatOut,
    Settings,
    TableOpened,
    TableRecord,
    TrumpTurned,
)
from domain.options import AntePolicy, FrapOptions, Khrap5Options, KhrapOptions
from domain.table import start_due_ms
from tests.domain.table.given import (
    FRAP,
    KHRAP,
    KHRAP5,
    LIMIT,
    PAUSE,
    STAKE,
    T0,
    After,
    Given,
    come_back,
    committed,
    fresh,
    given,
    hand_id,
    leave,
    open_table,
    opened,
    sat,
    seat,
    server_seed,
    sit,
    sit_out,
    stacked,
    start,
    top_up,
    written,
)

TWO = (*opened(), *sat(0, 1))
THREE = (*opened(), *sat(0, 1, 2))
DECK = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")


@pytest.mark.parametrize("settings", [KHRAP, FRAP, KHRAP5], ids=lambda s: s.game)
def test_t1_a_table_opens_with_its_settings_and_commits_to_its_first_hand(settings: Settings) -> None:
    command = OpenTable(at_ms=T0, settings=settings, fresh=fresh(1))
    assert decide(None, command) == (TableOpened(settings=settings), committed(1))


def test_t1_a_table_where_nothing_has_happened() -> None:
    table = given().when(open_table()).accepted().table
    assert (table.seats, table.carried_bank, table.dealer, table.hand) == ((), 0, None, None)
    assert (table.turn, table.ready_at_ms, table.closing, table.closed) == (0, None, False, False)


def test_t1_a_table_plays_the_game_that_its_options_name() -> None:
    for name, options in (("khrap", KhrapOptions()), ("frap", FrapOptions()), ("khrap5", Khrap5Options())):
        assert replace(KHRAP, options=options).game == name


def first_event(given_: Given) -> HandStarted:
    """The start of the hand that follows."""
    started = given_.when(start(), after=PAUSE).events[0]
    assert isinstance(started, HandStarted)
    return started


def id_bytes(n: int) -> bytes:
    return bytes.fromhex(hand_id(n).replace("-", ""))


def test_t4_a_hand_starts_after_the_pause_with_a_full_opening_state() -> None:
    deck = shuffle.deck(server_seed(1), id_bytes(1), 1, (b"", b""), 36)
    given(*TWO).when(start(), after=PAUSE).then(
        HandStarted(
            hand_id=hand_id(1),
            commitment=committed(1).commitment,
            dealer=shuffle.first_dealer(server_seed(1), id_bytes(1), (b"", b"")),
            dealt_in=(0, 1),
            ante=STAKE,
            client_seeds=("", ""),
            table=TableRecord(settings=KHRAP, seats=(seat(0), seat(1))),
            server_seed=server_seed(1).hex(),
        ),
        CardsDealt(hand_id=hand_id(1), deal_no=1, deck=deck),
        TrumpTurned(card=deck[8], circle=1),
    )


def test_t4_no_hand_starts_before_the_pause_is_over() -> None:
    given(*TWO).when(start(), after=PAUSE - 1).refused("not_offered", "T4")


def test_t4_no_hand_starts_while_one_runs() -> None:
    given(*TWO).deal(DECK).when(start(), after=PAUSE).refused("not_offered", "T4")


def test_t4_the_pause_counts_from_when_two_are_ready() -> None:
    waiting = given(*opened(), *sat(0), After(60_000), *sat(1))
    assert start_due_ms(waiting.table) == waiting.now + PAUSE
    third = waiting.having(After(1_000), *sat(2))
    assert start_due_ms(third.table) == waiting.now + PAUSE
    one = third.done(sit_out("anna"), sit_out("vera"))
    assert start_due_ms(one.table) is None
    again = one.done(come_back("vera"), after=5_000)
    assert start_due_ms(again.table) == again.now + PAUSE


@pytest.mark.parametrize("seats", [(), (0,)], ids=["nobody", "one"])
def test_t4_no_hand_starts_without_two_who_are_ready(seats: tuple[int, ...]) -> None:
    given(*opened(), *sat(*seats)).when(start(), after=PAUSE).refused("not_offered", "T4")


def test_t4_one_short_or_sitting_out_leaves_one_who_is_ready() -> None:
    given(written(seat(0), seat(1, STAKE - 1))).when(start(), after=PAUSE).refused("not_offered", "T4")
    given(*TWO).done(sit_out("anna")).when(start(), after=PAUSE).refused("not_offered", "T4")


def test_t4_who_sits_out_or_is_short_is_not_dealt_in() -> None:
    before = given(written(seat(0), seat(1), seat(2), seat(3, STAKE - 1)), PlayerSatOut(seat=1, player="boris"))
    started = first_event(before)
    assert started.dealt_in == (0, 2)
    assert started.client_seeds == ("", "")
    assert [(s.seat, s.idle_hands) for s in started.table.seats] == [(0, 0), (1, 1), (2, 0), (3, 1)]


def test_t4_who_holds_exactly_the_stake_is_dealt_in() -> None:
    hand = given(written(seat(0), seat(1, STAKE))).done(start(), after=PAUSE).table.hand
    assert hand is not None
    assert [p.purse for p in hand.players] == [LIMIT - STAKE, 0]


def test_t4_one_who_is_short_sits_out_until_he_tops_up() -> None:
    before = given(written(seat(0), seat(1), seat(2, STAKE - 1)))
    assert first_event(before).dealt_in == (0, 1)
    assert first_event(before.done(top_up("vera", 1))).dealt_in == (0, 1, 2)


def test_t4_a_stake_of_nothing_makes_nobody_short() -> None:
    free = replace(KHRAP, stake=0, entry_limit=0)
    hand = given(written(seat(0, 0), seat(1, 0), settings=free)).done(start(), after=PAUSE).table.hand
    assert hand is not None
    assert (hand.bank, [p.purse for p in hand.players]) == (0, [0, 0])


@pytest.mark.parametrize("policy", get_args(AntePolicy))
@pytest.mark.parametrize("carried", [0, 1, 500])
def test_t5_antes_by_policy_and_carried_bank(policy: AntePolicy, carried: int) -> None:
    settings = replace(KHRAP, options=KhrapOptions(ante_policy=policy))
    before = given(written(seat(0), seat(1), settings=settings, carried_bank=carried))
    ante = 0 if policy == "empty_bank" and carried else STAKE
    assert first_event(before).ante == ante
    table = before.done(start(), after=PAUSE).table
    assert table.hand
    assert table.hand.bank == carried + 2 * ante
    assert [(p.purse, p.paid_in) for p in table.hand.players] == [(LIMIT - ante, ante)] * 2
    assert (table.carried_bank, [s.purse for s in table.seats]) == (carried, [LIMIT, LIMIT])


def test_t14_the_first_dealer_is_an_index_into_the_dealt_in() -> None:
    for n in range(1, 30):
        made = committed(n)
        table = given(TableOpened(settings=KHRAP), made, *sat(0, 2, 4), PlayerSatOut(seat=2, player="vera"))
        lot = shuffle.first_dealer(server_seed(n), id_bytes(n), (b"", b""))
        assert first_event(table).dealer == (0, 4)[lot]


def test_t14_the_lot_is_drawn_with_the_clients_seeds() -> None:
    seeds = tuple(f"{i:02x}" for i in range(40))
    drawn = {shuffle.first_dealer(server_seed(1), id_bytes(1), (bytes.fromhex(s), b"")) for s in seeds}
    assert drawn == {0, 1}


def test_t14_the_next_dealer_deals() -> None:
    after = given(*THREE).deal(DECK).taken_by("boris")
    assert after.table.dealer == 1
    assert first_event(after).dealer == 1


@pytest.mark.parametrize(("away", "dealer"), [("boris", 2), ("vera", 1)])
def test_t14_where_he_is_not_dealt_in_the_next_one_clockwise_deals(away: str, dealer: int) -> None:
    after = given(*THREE).deal(DECK).taken_by("boris")
    assert first_event(after.done(sit_out(away))).dealer == dealer


def test_t14_clockwise_goes_round() -> None:
    after = given(*THREE).deal(DECK, dealer=1).taken_by("vera")
    assert first_event(after.done(sit_out("vera"))).dealer == 0


def test_t14_where_he_has_gone_the_next_one_clockwise_deals_even_where_another_has_his_seat() -> None:
    gone = given(*THREE).deal(DECK).taken_by("boris").done(leave("boris"))
    assert first_event(gone).dealer == 2
    assert first_event(gone.done(sit("dina", seat=1))).dealer == 2
    last = given(*THREE).deal(DECK, dealer=1).taken_by("vera").done(leave("vera"), sit("dina", seat=4))
    assert first_event(last).dealer == 4
    assert first_event(last.done(leave("dina"))).dealer == 0


def test_t14_a_hand_without_a_declarer_has_its_dealer_again() -> None:
    settings = replace(KHRAP, options=KhrapOptions(max_deals=1))
    passed = given(*opened(settings), *sat(0, 1, 2)).deal(DECK, dealer=2).taken_by("nobody")
    assert first_event(passed).dealer == 2
