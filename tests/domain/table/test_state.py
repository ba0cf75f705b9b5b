"""A table's state is written between hands every 100 events, so that a fold need not begin further back."""

from __future__ import annotations

from domain.events import Event, PlayerReturned, PlayerSatOut, TableStateWritten
from domain.evolve import evolve
from domain.hand import Over
from domain.table import NextHand, record
from tests.domain.table.given import (
    FRAP,
    MINUTE,
    PAUSE,
    Given,
    act,
    come_back,
    committed,
    given,
    opened,
    sat,
    seed,
    sit_out,
    stacked,
    start,
    void,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")


def busy(given_: Given, events: int) -> Given:
    """After so many events since the last full state, of sitting out and coming back."""
    while given_.table.since_state < events:
        away = given_.seat("anna").sitting_out
        given_ = given_.done(come_back("anna") if away else sit_out("anna"), after=MINUTE)
    assert given_.table.since_state == events
    return given_


def the_state(before: Given, after: Given) -> TableStateWritten:
    """The state that is written after `after`."""
    coming = before.table.next_hand
    assert coming is not None
    return TableStateWritten(
        table=record(after.table),
        hand_id=coming.hand_id,
        commitment=coming.commitment,
        server_seed=coming.server_seed,
        client_seeds=coming.client_seeds,
    )


def test_the_hundredth_event_is_followed_by_the_state() -> None:
    before = busy(given(*opened(), *sat(0, 1)).done(seed("boris", "0b")), 99)
    away = before.seat("anna").sitting_out
    event: Event = PlayerReturned(seat=0, player="anna") if away else PlayerSatOut(seat=0, player="anna")
    command = come_back("anna") if away else sit_out("anna")
    at_100 = Given(evolve(before.table, event, before.now + MINUTE), before.now + MINUTE)
    written = the_state(before, at_100)
    after = before.when(command, after=MINUTE).then(event, written)
    assert written.client_seeds == (("boris", "0b"),)
    assert after.table.since_state == 0
    assert busy(after, 98).table.since_state == 98


def test_the_ninety_ninth_is_not() -> None:
    before = busy(given(*opened(), *sat(0, 1)), 98)
    command = come_back("anna") if before.seat("anna").sitting_out else sit_out("anna")
    assert len(before.when(command, after=MINUTE).events) == 1


def test_a_table_read_from_its_written_state_is_the_table() -> None:
    before = busy(given(*opened(), *sat(0, 1)).done(seed("boris", "0b")), 99)
    command = come_back("anna") if before.seat("anna").sitting_out else sit_out("anna")
    done = before.when(command, after=MINUTE)
    assert evolve(None, done.events[-1], done.now) == done.accepted().table
    made = committed(1)
    assert done.accepted().table.next_hand == NextHand(
        hand_id=made.hand_id,
        commitment=made.commitment,
        server_seed=made.server_seed,
        client_seeds=(("boris", "0b"),),
    )


def test_nothing_is_written_while_a_hand_runs_but_after_it() -> None:
    running = given(*opened(), *sat(0, 1, 2)).deal(SUITS_APART)
    while running.table.since_state < 120:
        command = come_back("anna") if running.seat("anna").sitting_out else sit_out("anna")
        last = running.when(command, after=MINUTE)
        assert len(last.events) == 1
        running = last.accepted()
    proposed = running.done(void("olga"))
    assert [type(e) for e in proposed.when(void("pavel")).events][-1] is TableStateWritten
    over = proposed.done(void("pavel"))
    assert over.table.since_state == 0


def test_the_events_of_a_hand_do_not_count_so_that_its_result_is_seen_after_it() -> None:
    """A hand of more than a hundred events wrote a state at its end, and the result was gone from all views at once."""
    given_ = given(*opened(FRAP), *sat(*range(12)))
    running, events = given_.done(start(), after=PAUSE), 0
    while running.table.hand_no == 0:
        last = running.when(act(running.asked(), "pass"))
        running, events = last.accepted(), events + len(last.events)
    assert events > 300
    assert running.table.since_state == len(("hand_voided", "seed_disclosed", "hand_committed"))
    assert isinstance(running.hand.phase, Over)


def test_a_hand_is_a_full_state_itself() -> None:
    before = busy(given(*opened(), *sat(0, 1)), 98)
    running = (before.done(come_back("anna")) if before.seat("anna").sitting_out else before).done(start(), after=PAUSE)
    assert running.table.since_state == 0
    assert len(running.when(act(running.asked(), "pass")).events) == 1
