"""A hand's end at the table, event by event: T6 to T10, S2, S6."""

from __future__ import annotations

from msgspec.structs import replace

from domain.cards import Card
from domain.events import (
    CardPlayed,
    CommissionTaken,
    DealtIn,
    Declared,
    FinePaid,
    HandSettled,
    HandStarted,
    Result,
    SharePaid,
    TrickTaken,
)
from domain.options import KhrapOptions
from domain.table import Table, money, running
from tests.domain.table.given import (
    KHRAP,
    LIMIT,
    PAUSE,
    STAKE,
    Given,
    act,
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
    written,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
ONE_TRICK = stacked(36, "As 6h 7h 8h", "7s Ah Kh Qh", "Ad Kd Qd Jd", then="6c")
"""Boris takes the first trick with the ace of spades, vera the other three with her hearts."""
TWO_TRICKS = stacked(36, "As Ks 6h 7h", "7s 8s Ah Kh", "Ad Kd Qd Jd", then="6c")
STAKE_OF_NOTHING = replace(KHRAP, stake=0, entry_limit=0)


def helped(before: Given) -> Given:
    """Boris has declared, vera helps, anna is out."""
    words = act("boris", "khrap"), act("vera", "help"), act("anna", "decline"), act("anna", "pass")
    return before.done(*words)


def to_the_last_card(before: Given, *plays: str) -> Given:
    """All cards played but the last."""
    for play in plays:
        player, card = play.split()
        before = before.done(act(player, "play", card))
    return before


ONE_TRICK_PLAYS = ("boris As", "vera 7s", "boris 6h", "vera Ah", "vera Kh", "boris 7h", "vera Qh")


def test_t6_the_bank_is_the_carried_bank_and_the_antes() -> None:
    table = given(written(seat(0), seat(1), seat(2), carried_bank=501)).deal(SUITS_APART).table
    assert table.hand
    assert (table.hand.carried, table.hand.bank) == (501, 501 + 3 * STAKE)


def test_t9_t10_a_hand_taken_without_play() -> None:
    before = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART)
    words = act("boris", "khrap"), act("vera", "decline"), act("anna", "decline"), act("vera", "pass")
    bank = 3 * STAKE
    result = Result(
        ending="uncontested",
        bank=bank,
        carried_bank=0,
        next_dealer=1,
        players=(
            part(0, "passed", LIMIT - STAKE),
            part(1, "khrap", LIMIT - STAKE + bank - 240, tricks=4, share=bank, commission=240),
            part(2, "passed", LIMIT - STAKE),
        ),
    )
    after = before.done(*words).when(act("anna", "pass"))
    table = after.then(
        Declared(seat=0, do="pass"),
        SharePaid(seat=1, tricks=4, amount=bank),
        CommissionTaken(seat=1, share=bank, amount=240),
        HandSettled(hand_id=hand_id(1), result=result),
        disclosed(1),
        committed(2),
    ).table
    assert [s.purse for s in table.seats] == [38_000, 43_760, 38_000]
    assert (table.carried_bank, table.dealer, table.hand_no, table.bank_no) == (0, 1, 1, 1)
    assert table.last_dealt_in == dealt_in(0, 1, 2)
    assert (running(table), table.shuffle, table.ready_at_ms) == (None, None, after.now)


def test_t7_fines_go_to_the_bank_of_the_next_hand() -> None:
    """Boris owes `2 × B` for one trick, keeps its share, and pays no commission."""
    before = to_the_last_card(helped(given(*opened(), *sat(0, 1, 2)).deal(ONE_TRICK)), *ONE_TRICK_PLAYS)
    result = Result(
        ending="played",
        bank=6_000,
        carried_bank=12_000,
        next_dealer=1,
        players=(
            part(0, "passed", 38_000),
            part(1, "khrap", 38_000 + 1_500 - 12_000, tricks=1, share=1_500, fine_due=12_000, fine_paid=12_000),
            part(2, "help", 38_000 + 4_500 - 180, tricks=3, share=4_500, commission=180),
        ),
    )
    after = before.when(act("boris", "play", "8h")).then(
        CardPlayed(seat=1, card=Card("8h")),
        TrickTaken(seat=2, trick=4),
        SharePaid(seat=1, tricks=1, amount=1_500),
        FinePaid(seat=1, due=12_000, paid=12_000),
        SharePaid(seat=2, tricks=3, amount=4_500),
        CommissionTaken(seat=2, share=4_500, amount=180),
        HandSettled(hand_id=hand_id(1), result=result),
        disclosed(1),
        committed(2),
    )
    assert after.table.carried_bank == 12_000
    assert after.deal(SUITS_APART).hand.bank == 18_000


def test_t7_nobody_pays_more_than_his_purse_and_his_share() -> None:
    poor = given(written(seat(0), seat(1, STAKE + 1), seat(2))).deal(ONE_TRICK)
    after = to_the_last_card(helped(poor), *ONE_TRICK_PLAYS).when(act("boris", "play", "8h"))
    assert after.events[3] == FinePaid(seat=1, due=12_000, paid=1_501)
    table = after.accepted().table
    assert table.seats[1].purse == 0
    assert table.carried_bank == 1_501
    assert table.seats[1].idle_since_ms == after.now


def test_t8_with_a_bank_of_nothing_nothing_is_due() -> None:
    free = given(written(seat(0, 0), seat(1, 5), seat(2, 0), settings=STAKE_OF_NOTHING)).deal(ONE_TRICK)
    before = to_the_last_card(helped(free), *ONE_TRICK_PLAYS)
    result = Result(
        ending="played",
        bank=0,
        carried_bank=0,
        next_dealer=1,
        players=(part(0, "passed", 0), part(1, "khrap", 5, tricks=1), part(2, "help", 0, tricks=3)),
    )
    before.when(act("boris", "play", "8h")).then(
        CardPlayed(seat=1, card=Card("8h")),
        TrickTaken(seat=2, trick=4),
        HandSettled(hand_id=hand_id(1), result=result),
        disclosed(1),
        committed(2),
    )


def test_t8_with_no_fine_and_no_remainder_the_bank_is_nothing_until_the_next_ante() -> None:
    policy = replace(KHRAP, options=KhrapOptions(ante_policy="empty_bank"))
    over = given(*opened(policy), *sat(0, 1, 2)).deal(SUITS_APART).taken_by("boris")
    assert over.table.carried_bank == 0
    started = over.when(start(), after=PAUSE).events[0]
    assert isinstance(started, HandStarted)
    assert started.ante == STAKE


def test_t9_the_remainder_stays_in_the_bank() -> None:
    odd = replace(KHRAP, stake=2_001)
    over = given(*opened(odd), *sat(0, 1, 2)).deal(SUITS_APART).taken_by("boris")
    assert over.table.carried_bank == 3
    assert over.table.seats[1].purse == LIMIT - 2_001 + 6_000 - 240
    again = over.deal(SUITS_APART).table.hand
    assert again is not None
    assert (again.carried, again.bank) == (3, 6_006)


def test_t10_a_share_up_to_the_stake_is_free_of_commission() -> None:
    """Two tricks of four in a bank of two stakes make a stake, and the house takes nothing of it."""
    deck = stacked(36, "7s 8s Ah Kh", "As Ks 6h 7h", then="6c")
    before = given(*opened(), *sat(0, 1)).deal(deck, dealer=0)
    played = before.done(act("boris", "khrap"), act("anna", "help"))
    plays = ("boris 7s", "anna As", "anna Ks", "boris 8s", "anna 6h", "boris Ah", "boris Kh")
    last = to_the_last_card(played, *plays).when(act("anna", "play", "7h"))
    assert [type(e) for e in last.events[2:5]] == [SharePaid, SharePaid, HandSettled]
    settled = last.events[4]
    assert isinstance(settled, HandSettled)
    assert [p.share for p in settled.result.players] == [STAKE, STAKE]


def test_t10_above_the_stake_the_house_takes_its_part_rounded_down() -> None:
    rate = replace(KHRAP, commission_bps=333, stake=2_001)
    over = given(*opened(rate), *sat(0, 1, 2)).deal(SUITS_APART).taken_by("boris")
    assert over.table.seats[1].purse == LIMIT - 2_001 + 6_000 - 199
    assert 6_000 * 333 == 199 * 10_000 + 8_000


def test_t6_the_money_moves_with_each_event() -> None:
    """It once stayed in the bank until the hand was settled, while the shares were in the purses already."""
    before = to_the_last_card(helped(given(*opened(), *sat(0, 1, 2)).deal(ONE_TRICK)), *ONE_TRICK_PLAYS)
    last = before.when(act("boris", "play", "8h"))
    table: Table = before.table
    sums, banks = [], []
    for event in last.events:
        table = Given(table, last.now).having(event).table
        sums.append(money(table))
        banks.append(None if table.hand is None else table.hand.bank)
    total = 3 * LIMIT
    assert sums == [total] * 5 + [total - 180] * 4
    assert banks == [6_000, 6_000, 4_500, 16_500, 12_000, 12_000, 12_000, 12_000, 12_000]


def test_t3_who_was_dealt_in_is_known_after_the_hand() -> None:
    over = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART).having(*sat(4)).taken_by("boris")
    assert over.table.last_dealt_in == tuple(DealtIn(seat=s, player=p) for s, p in enumerate(("anna", "boris", "vera")))
