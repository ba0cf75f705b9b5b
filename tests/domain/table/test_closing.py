"""The last player leaves, a table closes, and one that is closed: T13, S6."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain import commands as c
from domain.events import (
    BankReturned,
    Event,
    PlayerLeft,
    PlayerSat,
    TableClosed,
    TableClosing,
    TableHalted,
)
from domain.table import money
from tests.domain.table.given import (
    LIMIT,
    MINUTE,
    PAUSE,
    STAKE,
    Given,
    Make,
    act,
    auto_top_up,
    clock_act,
    close,
    come_back,
    commit_anew,
    complete_close,
    complete_leave,
    dealt_in,
    disclosed,
    given,
    halt,
    leave,
    opened,
    remove_idle,
    renew,
    resume,
    sat,
    seat,
    seed,
    sit,
    sit_out,
    stacked,
    start,
    top_up,
    void,
    written,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
CLOSING = TableClosing(reason="late")


def bank(*parts: tuple[int, str, int]) -> tuple[Event, ...]:
    return tuple(BankReturned(seat=s, player=p, amount=a) for s, p, a in parts)


def one_left(carried_bank: int, *last: int) -> Given:
    """Only anna sits; so much is carried, and these seats were dealt into the last settled hand."""
    return given(written(seat(0), carried_bank=carried_bank, last_dealt_in=dealt_in(*last)))


@pytest.mark.parametrize(
    ("carried", "parts"),
    [
        (0, ()),
        (1, ((0, "anna", 1),)),
        (2, ((0, "anna", 1), (2, "vera", 1))),
        (99, ((0, "anna", 33), (2, "vera", 33), (3, "gleb", 33))),
        (100, ((0, "anna", 34), (2, "vera", 33), (3, "gleb", 33))),
        (101, ((0, "anna", 34), (2, "vera", 34), (3, "gleb", 33))),
    ],
)
def test_t13_with_the_last_player_the_bank_goes_to_the_dealt_in_of_the_last_settled_hand(
    carried: int, parts: tuple[tuple[int, str, int], ...]
) -> None:
    after = one_left(carried, 0, 2, 3).when(leave("anna"))
    empty = after.then(PlayerLeft(seat=0, player="anna", purse=LIMIT), *bank(*parts)).table
    assert (empty.seats, empty.carried_bank, money(empty)) == ((), 0, 0)


def test_t13_they_get_it_though_they_have_gone_and_the_last_one_was_not_among_them() -> None:
    after = one_left(7, 1, 2).when(leave("anna"))
    after.then(PlayerLeft(seat=0, player="anna", purse=LIMIT), *bank((1, "boris", 4), (2, "vera", 3)))


def test_t13_while_another_sits_the_bank_stays() -> None:
    two = given(written(seat(0), seat(1), carried_bank=100, last_dealt_in=dealt_in(0, 1)))
    one = two.when(leave("boris")).then(PlayerLeft(seat=1, player="boris", purse=LIMIT))
    assert one.table.carried_bank == 100


def test_t13_so_it_is_when_the_last_one_is_made_to_leave_or_leaves_after_the_hand() -> None:
    idle = replace(seat(0), sitting_out=True, idle_since_ms=0)
    out = given(written(idle, carried_bank=3, last_dealt_in=dealt_in(0, 1)))
    left = PlayerLeft(seat=0, player="anna", purse=LIMIT, reason="idle")
    out.when(remove_idle("anna"), after=10 * MINUTE).then(left, *bank((0, "anna", 2), (1, "boris", 1)))
    leaving = replace(seat(0), leaving=True)
    asked = given(written(leaving, carried_bank=3, last_dealt_in=dealt_in(0, 1)))
    gone = PlayerLeft(seat=0, player="anna", purse=LIMIT)
    asked.when(complete_leave("anna")).then(gone, *bank((0, "anna", 2), (1, "boris", 1)))


def test_t13_an_empty_table_can_be_sat_down_at_again() -> None:
    empty = one_left(100, 0, 2, 3).done(leave("anna"))
    empty.when(sit("dina", LIMIT)).then(PlayerSat(seat=0, player="dina", buy_in=LIMIT))


# --- closing


def test_t13_a_table_closes_between_hands() -> None:
    before = given(written(seat(0), seat(2, 5), carried_bank=101, last_dealt_in=dealt_in(0, 1, 2)))
    closing = before.when(close("late")).then(CLOSING)
    closed = closing.when(complete_close()).then(
        PlayerLeft(seat=0, player="anna", purse=LIMIT, reason="closed"),
        PlayerLeft(seat=2, player="vera", purse=5, reason="closed"),
        *bank((0, "anna", 34), (1, "boris", 34), (2, "vera", 33)),
        disclosed(1, used=False),
        TableClosed(),
    )
    assert (closed.table.closed, closed.table.seats, money(closed.table)) == (True, (), 0)
    assert closed.table.next_hand is None


def test_t13_an_empty_table_closes() -> None:
    given(*opened(), CLOSING).when(complete_close()).then(disclosed(1, used=False), TableClosed())


def test_t13_a_table_closes_after_the_running_hand() -> None:
    closing = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART).when(close("late")).then(CLOSING)
    closing.when(complete_close()).refused("in_hand", "T13")
    over = closing.taken_by("boris")
    over.when(start(), after=PAUSE).refused("not_offered", "T4")
    over.when(complete_close()).then(
        PlayerLeft(seat=0, player="anna", purse=LIMIT - STAKE, reason="closed"),
        PlayerLeft(seat=1, player="boris", purse=LIMIT - STAKE + 6_000 - 240, reason="closed"),
        PlayerLeft(seat=2, player="vera", purse=LIMIT - STAKE, reason="closed"),
        disclosed(2, used=False),
        TableClosed(),
    )


def test_t13_a_table_closes_once_and_only_where_that_was_asked_for() -> None:
    given(*opened(), CLOSING).when(close()).refused("table_closing", "T13")
    given(*opened()).when(complete_close()).refused("not_offered", "T13")


def test_t13_a_halted_table_closes_after_it_is_resumed() -> None:
    halted = given(*opened(), *sat(0), TableHalted(reason="books")).done(close("late"))
    halted.when(complete_close()).refused("table_halted", "T3")
    halted.done(resume()).when(complete_close()).then(
        PlayerLeft(seat=0, player="anna", purse=LIMIT, reason="closed"), disclosed(1, used=False), TableClosed()
    )


COMMANDS: dict[type[c.Command], Make] = {
    c.SetClientSeed: seed("anna", "aa"),
    c.Sit: sit("zoya"),
    c.TopUp: top_up("anna", 1),
    c.SitOut: sit_out("anna"),
    c.Return: come_back("anna"),
    c.Leave: leave("anna"),
    c.Act: act("anna", "pass"),
    c.ClockAct: clock_act(),
    c.RenewDeadlines: renew(),
    c.StartHand: start(),
    c.CompleteLeave: complete_leave("anna"),
    c.RemoveIdle: remove_idle("anna"),
    c.AutoTopUp: auto_top_up("anna"),
    c.HaltTable: halt(),
    c.ResumeTable: resume(),
    c.CloseTable: close(),
    c.CompleteClose: complete_close(),
    c.Void: void("olga"),
    c.CommitAnew: commit_anew(),
}


def test_every_command_is_sent_to_a_closed_table_but_its_opening_and_the_correction_of_its_hands() -> None:
    assert {*COMMANDS, c.OpenTable, c.CorrectHand} == set(c.TableCommand.__args__)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=[kind.__name__ for kind in COMMANDS])
def test_t13_a_closed_table_refuses_everything(command: Make) -> None:
    given(*opened(), *sat(0, 1), CLOSING).done(complete_close()).when(command).refused("table_closing", "T13")
