"""S6, H7: a replay shows a player at each step what he saw then and no more; with all cards open it shows them all."""

from __future__ import annotations

import re

import msgspec
import pytest

from domain.events import CardsDealt, HandSettled, HandVoided
from domain.hand import at
from domain.replay import At, shown
from domain.working import worked_out
from tests.domain.hands import Turn, events_of, for_seeds, random_hand
from tests.domain.test_unseen import seen

CARD = re.compile(rb'"([2-9TJQKA][shdc])"')


def recorded(turns: tuple[Turn, ...]) -> list[At]:
    """The hand's events as a stream holds them, from number 7 on."""
    return [At(7 + i, 1_000 * i, event) for i, event in enumerate(events_of(turns))]


@for_seeds(80)
def test_h7_a_player_sees_at_each_step_what_he_had_seen_by_then(seed: int) -> None:
    turns = random_hand(seed)
    for player in turns[0].after.players:
        steps = iter(shown(recorded(turns), player.player))
        before: frozenset[str] = frozenset()
        for turn, known in zip(turns, seen(turns, player.seat), strict=True):
            for _ in turn.events:
                cards = {each.decode() for each in CARD.findall(msgspec.json.encode(next(steps)))}
                assert cards <= before | known, (player, turn.action, cards - before - known)
            before = known
        assert next(steps, None) is None


@for_seeds(60)
def test_s6_with_all_cards_open_every_hand_and_the_stock_are_there(seed: int) -> None:
    turns = random_hand(seed)
    steps = iter(shown(recorded(turns), None))
    for turn in turns:
        last = None
        for event in turn.events:
            last = next(steps)
            assert last.event["type"] == event.__struct_config__.tag
            if isinstance(event, CardsDealt):
                dealt = [c for held in last.held for c in held.cards]
                assert last.stock is not None
                assert sorted((*dealt, *last.stock)) == sorted(event.deck)
        assert last is not None
        assert {h.seat: h.cards for h in last.held} == {p.seat: p.cards for p in turn.after.players}
        assert last.stock == turn.after.deck[turn.after.stock :]


@for_seeds(60)
def test_t9_t7_the_working_is_the_settlement_and_its_lines_add_up(seed: int) -> None:
    turns = random_hand(seed)
    events = events_of(turns)
    working = worked_out(events)
    (recorded_result,) = [e.result for e in events if isinstance(e, HandSettled | HandVoided)]
    assert working.differences == ()
    assert working.recorded == working.result == recorded_result
    if recorded_result.ending != "voided":
        assert working.bank == working.carried_before + working.paid_in
    assert working.carried_bank == working.bank - working.shares + working.fines_paid
    for line in working.players:
        paid = line.paid_in - line.returned
        assert line.purse == line.purse_before - paid + line.share - line.commission - line.fine_paid
        assert line.fine_due == line.fine_times * working.bank
        assert line.fine_paid == min(line.fine_due, line.fine_funds)
        assert bool(line.commission) == (line.commission_because == "taken")
        assert at(turns[-1].after, line.seat).purse == line.purse


def test_a_recorded_result_that_is_not_the_rules_is_told_field_by_field() -> None:
    turns = next(t for t in map(random_hand, range(100)) if isinstance(t[-1].events[-1], HandSettled))
    *events, last = events_of(turns)
    assert isinstance(last, HandSettled)
    wrong = msgspec.structs.replace(last.result, carried_bank=last.result.carried_bank + 1)
    found = worked_out([*events, msgspec.structs.replace(last, result=wrong)]).differences
    assert [f.field for f in found] == ["result.carried_bank"]


def test_what_is_no_hand_is_not_replayed() -> None:
    events = recorded(random_hand(1))
    with pytest.raises(ValueError, match="begins with"):
        list(shown(events[1:], None))
    with pytest.raises(ValueError, match="no ended hand"):
        worked_out([each.event for each in events[:-1]])
