"""A halted table: no hand starts and no purse leaves until it is resumed."""

from __future__ import annotations

import pytest

from domain.events import (
    ClientSeedSet,
    Event,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSatOut,
    PurseToppedUp,
    TableHalted,
    TableResumed,
)
from domain.table import start_due_ms
from tests.domain.table.given import (
    LIMIT,
    MINUTE,
    PAUSE,
    STAKE,
    After,
    Make,
    come_back,
    complete_leave,
    given,
    halt,
    hand_id,
    leave,
    opened,
    remove_idle,
    resume,
    sat,
    seed,
    sit,
    sit_out,
    stacked,
    start,
    top_up,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
TABLE = given(*opened(), *sat(0, 1, 2))
HALTED = TABLE.having(TableHalted(reason="a look at the books"))


def test_t3_halting_and_resuming() -> None:
    halted = TABLE.when(halt("a look at the books")).then(TableHalted(reason="a look at the books"))
    halted.when(halt("again")).refused("table_halted", "T3")
    resumed = halted.when(resume("all is well")).then(TableResumed(reason="all is well"))
    resumed.when(resume()).refused("not_offered", "T3")


def test_t3_a_fault_alarm_stands_above_a_wish() -> None:
    alarmed = HALTED.when(halt("the books differ", fault=True)).then(TableHalted(reason="the books differ", fault=True))
    alarmed.when(halt("a wish")).refused("table_halted", "T3")
    alarmed.when(halt("another alarm", fault=True)).refused("table_halted", "T3")
    assert alarmed.done(resume()).table.halt is None


def test_r5_ops_resume_no_table_whose_books_differ() -> None:
    alarmed = HALTED.when(halt("the books differ", fault=True)).then(TableHalted(reason="the books differ", fault=True))
    alarmed.when(resume("they wait", books_differ=True)).refused("not_offered", "R5")


def test_t4_no_hand_starts_at_a_halted_table_and_the_pause_counts_from_its_resumption() -> None:
    HALTED.when(start(), after=PAUSE).refused("not_offered", "T4")
    assert start_due_ms(HALTED.table) is None
    resumed = HALTED.done(resume(), after=MINUTE)
    assert start_due_ms(resumed.table) == resumed.now + PAUSE


def test_t3_the_running_hand_goes_on_and_the_next_one_does_not_start() -> None:
    over = TABLE.deal(SUITS_APART).done(halt()).taken_by("boris")
    assert over.table.hand_no == 1
    over.when(start(), after=PAUSE).refused("not_offered", "T4")


def test_t3_who_leaves_a_halted_table_goes_once_it_is_resumed() -> None:
    leaving = HALTED.when(leave("boris")).then(LeaveRequested(seat=1, player="boris"))
    leaving.when(complete_leave("boris")).refused("table_halted", "T3")
    gone = PlayerLeft(seat=1, player="boris", purse=LIMIT)
    leaving.done(resume()).when(complete_leave("boris")).then(gone)


def test_t3_who_was_dealt_into_the_questioned_hand_stays_too() -> None:
    over = TABLE.deal(SUITS_APART).done(leave("boris"), halt()).taken_by("vera")
    over.when(complete_leave("boris")).refused("table_halted", "T3")
    gone = PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE)
    over.done(resume()).when(complete_leave("boris")).then(gone)


def test_t3_nobody_is_made_to_leave_until_then() -> None:
    out = TABLE.done(sit_out("boris"), halt()).having(After(10 * MINUTE))
    out.when(remove_idle("boris")).refused("table_halted", "T3")
    left = PlayerLeft(seat=1, player="boris", purse=LIMIT, reason="idle")
    out.done(resume()).when(remove_idle("boris")).then(left)


@pytest.mark.parametrize(
    ("command", "event"),
    [
        (sit_out("anna"), PlayerSatOut(seat=0, player="anna")),
        (top_up("anna", 1), PurseToppedUp(seat=0, player="anna", amount=1)),
        (seed("anna", "aa"), ClientSeedSet(hand_id=hand_id(1), player="anna", client_seed="aa")),
    ],
    ids=["sit out", "top up", "seed"],
)
def test_t3_what_takes_nothing_away_is_allowed(command: Make, event: Event) -> None:
    HALTED.when(command).then(event)


def test_t3_so_is_coming_back_but_not_sitting_down() -> None:
    HALTED.done(sit_out("anna")).when(come_back("anna")).then(PlayerReturned(seat=0, player="anna"))
    HALTED.when(sit("gleb")).refused("table_halted", "T3")
