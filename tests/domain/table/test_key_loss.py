"""S7: a table whose secrets are lost: its money is folded without them, its hand voided, its seeds told to nobody."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from domain.consequences import void as voided
from domain.events import (
    SECRETS,
    CardsLooked,
    Event,
    HandCommitted,
    HandVoided,
    SeedDisclosed,
    TableHalted,
    TableStateWritten,
)
from domain.evolve import evolve, evolve_unopened
from domain.table import Table, running, seed_lost
from tests.domain.hands import events_of, for_seeds, random_hand
from tests.domain.table.given import (
    PAUSE,
    Given,
    act,
    clock_act,
    close,
    commit_anew,
    committed,
    complete_close,
    given,
    halt,
    opened,
    sat,
    seed,
    stacked,
    start,
    void,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
THREE = given(*opened(), *sat(0, 1, 2))


def public(event: Event) -> Event:
    """As it is read where its key is lost: secret fields empty."""
    empty: dict[str, Any] = {
        name: () if name in ("deck", "cards", "client_seeds") else "" for name in SECRETS.get(type(event), ())
    }
    return replace(event, **empty)


def lost(before: Given, *events: Event) -> Given:
    """After these events too, the key being lost."""
    table: Table | None = before.table
    for event in events:
        table = evolve_unopened(table, public(event), before.now)
    return Given(table, before.now)


def unopened(*events: Event) -> Given:
    """A table that is known by the public halves of these events."""
    table: Table | None = None
    for event in events:
        table = evolve_unopened(table, public(event), given().now)
    return Given(table, given().now)


def halves(outcome: Any) -> tuple[type[Event], ...]:
    """The kinds of the events."""
    return tuple(type(event) for event in outcome.events)


@for_seeds(60)
def test_s7_money_and_result_are_the_same_without_the_secrets(seed: int) -> None:
    whole: Table | None = None
    half: Table | None = None
    for event in events_of(random_hand(seed)):
        whole, half = evolve(whole, event, 7), evolve_unopened(half, public(event), 7)
        assert whole.hand is not None
        assert half.hand is not None
        assert half.turn >= whole.turn
        assert (half.hand.bank, half.hand.carried, half.carried_bank) == (
            whole.hand.bank,
            whole.hand.carried,
            whole.carried_bank,
        )
        assert [(p.purse, p.paid_in) for p in half.hand.players] == [(p.purse, p.paid_in) for p in whole.hand.players]
        assert (running(half) is None) == (running(whole) is None)
        if running(whole) is not None:
            ops = ("olga", "otto")
            assert voided(half.hand, "ops", "the key", ops) == voided(whole.hand, "ops", "the key", ops)


def test_s7_t12_a_hand_is_voided_its_seed_told_to_nobody_and_the_state_written() -> None:
    started = THREE.when(start(), after=PAUSE)
    running_ = unopened(*opened(), *sat(0, 1, 2), *started.events)
    assert seed_lost(running_.table)
    assert halves(running_.when(halt(fault=True))) == (TableHalted,)
    last = running_.done(halt(fault=True), void("olga")).when(void("otto"))
    assert halves(last) == (HandVoided, HandCommitted, TableStateWritten)
    after = last.accepted().table
    assert [s.purse for s in after.seats] == [s.purse for s in THREE.table.seats]
    assert not seed_lost(after)
    assert evolve(None, last.events[-1], last.accepted().now) == after
    assert after.turn >= running_.table.turn


def test_s7_a_commitment_gives_way_to_another_and_the_state_is_written() -> None:
    seeded = (*opened(), *sat(0, 1, 2), *THREE.when(seed("anna", "0a")).events)
    between = unopened(*seeded)
    anew, state = between.when(commit_anew()).events
    assert anew == committed(90)
    assert isinstance(state, TableStateWritten)
    assert (state.server_seed, state.client_seeds) == (committed(90).server_seed, ())


def test_s7_a_lost_seed_is_not_disclosed_when_the_table_closes() -> None:
    closing = unopened(*opened(), *sat(0, 1)).done(close())
    assert SeedDisclosed not in halves(closing.when(complete_close()))


def test_s7_t11_an_own_act_ends_a_streak_and_what_the_clock_did_adds_to_none() -> None:
    before = THREE.deal(SUITS_APART)
    for make, left in ((act("boris", "pass"), 0), (clock_act(), 1)):
        seats = tuple(replace(s, expiries=1) for s in before.table.seats)
        streak = Given(replace(before.table, seats=seats), before.now)
        after = lost(streak, *before.when(make, after=100_000).events)
        assert after.seat("boris").expiries == left
        assert lost(streak, CardsLooked(seat=1)).seat("boris").expiries == 0


@pytest.mark.parametrize("word", ["pass", "khrap"])
def test_s7_no_turn_of_the_lost_hand_is_open_again(word: Any) -> None:
    before = THREE.deal(SUITS_APART)
    half = unopened(*opened(), *sat(0, 1, 2), *THREE.when(start(), after=PAUSE).events)
    after = lost(half, *before.when(act("boris", word)).events)
    whole = before.done(act("boris", word))
    assert after.table.turn >= whole.table.turn
