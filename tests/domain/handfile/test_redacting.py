"""H7: what an audience may see of a hand, and what can be checked of that."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from domain.cards import Card
from domain.events import Result
from domain.handfile import Audience, HandFile, HandFileError, check, from_events, parse, redact, replay, to_json
from domain.handfile.showing import UNSEEN
from tests.domain.handfile.samples import DREW, PLAYED, REFUSED, SHUFFLED, changed, vector
from tests.domain.handfile.test_exporting import shuffled_hand
from tests.domain.hands import Turn, events_of, for_seeds, random_hand
from tests.domain.test_unseen import seen


def audiences(file: HandFile) -> tuple[Audience, ...]:
    """The public and every dealt-in seat."""
    return ("public", *(s.seat for s in file.seats))


def sample(hand: dict[str, Any]) -> HandFile:
    """A vector as a file."""
    return parse(changed(hand, "name", "x"))


@for_seeds(60)
def test_h7_a_redacted_hand_holds_for_every_audience(seed: int) -> None:
    file = from_events(events_of(random_hand(seed)))
    for audience in audiences(file):
        redacted = redact(file, audience)
        report = check(redacted)
        assert report.holds, (audience, report.problems)
        assert report.compared == "result"
        assert report.unchecked
        assert parse(to_json(redacted)) == redacted


@for_seeds(60)
def test_h7_a_redacted_hand_shows_what_was_seen_and_no_more(seed: int) -> None:
    turns = random_hand(seed)
    file = from_events(events_of(turns))
    for seat in (s.seat for s in file.seats):
        redacted = redact(file, seat)
        last = _seen_by_deal(turns, seat)
        for whole, cards, known in zip(file.deals, redacted.deals, last, strict=True):
            for true, shown in zip(whole, cards, strict=True):
                assert shown in (None, true)
                assert shown is None or shown in known
        for true_action, action in zip(file.actions, redacted.actions, strict=True):
            assert action == true_action or (action.seat != seat and set(action.cards or ()) == {None})


def _seen_by_deal(turns: tuple[Turn, ...], seat: int) -> list[frozenset[Card]]:
    by_deal: dict[int, frozenset[Card]] = {}
    for turn, known in zip(turns, seen(turns, seat), strict=True):
        by_deal[turn.after.deal_no] = by_deal.get(turn.after.deal_no, frozenset()) | known
    return [by_deal[deal_no] for deal_no in sorted(by_deal)]


@for_seeds(60)
def test_h7_a_redacted_file_does_not_depend_on_cards_unseen(seed: int) -> None:
    """Another whole hand that is legal with the same public actions gives the same bytes."""
    rng = random.Random(seed)
    turns = random_hand(seed)
    file = from_events(events_of(turns))
    seat = rng.choice(file.seats).seat
    other = _permuted(rng, file, _seen_by_deal(turns, seat), seat)
    if check(other).holds:
        assert to_json(redact(other, seat)) == to_json(redact(file, seat))


def _permuted(rng: random.Random, file: HandFile, known: list[frozenset[Card]], seat: int) -> HandFile:
    """The file with unseen cards of each deal in other places, and other players' discards accordingly."""
    deals, maps = [], []
    for cards, seen_cards in zip(file.deals, known, strict=True):
        unseen = [c for c in cards if c is not None and c not in seen_cards]
        anew = dict(zip(unseen, rng.sample(unseen, len(unseen)), strict=True))
        deals.append(tuple(anew.get(c, c) if c is not None else None for c in cards))
        maps.append(anew)
    actions = [
        a if a.cards is None or a.seat == seat else replace(a, cards=tuple(maps[-1].get(c, c) for c in a.cards if c))
        for a in file.actions
    ]
    return replace(file, deals=tuple(deals), actions=tuple(actions))


@for_seeds(40)
def test_h7_a_wrong_figure_in_a_redacted_file_is_named(seed: int) -> None:
    rng = random.Random(seed)
    file = from_events(events_of(random_hand(seed)))
    redacted = redact(file, rng.choice(audiences(file)))
    result = redacted.result
    assert result is not None
    i = rng.randrange(len(result.players))
    field = rng.choice(("tricks", "share", "commission", "fine_due", "fine_paid", "purse"))
    before = getattr(result.players[i], field)
    wrong = _with(result, i, field, before + 1)
    report = check(replace(redacted, result=wrong))
    assert [str(p) for p in report.problems] == [
        f"result.players[{i}].{field}: {before + 1} in the file, {before} by the rules"
    ]


def _with(result: Result, index: int, field: str, value: int) -> Result:
    players = list(result.players)
    players[index] = replace(players[index], **{field: value})
    return replace(result, players=tuple(players))


def _problem(file: HandFile) -> str:
    (problem,) = check(file).problems
    return str(problem)


def test_h7_a_revoke_is_found_where_later_plays_show_the_card() -> None:
    """Seat 1 is led hearts in the second trick, plays a diamond, and plays the eight of hearts in the third."""
    public = redact(sample(PLAYED), "public")
    second, third = [i for i, a in enumerate(public.actions) if a.do == "play" and a.seat == 1][1:3]
    actions = list(public.actions)
    actions[second], actions[third] = actions[third], actions[second]
    says = _problem(replace(public, actions=tuple(actions)))
    assert says == (f"actions[{second}]: must_follow_suit (K15): 6d may not be played to this trick; legal: 8h")


def test_h7_a_card_that_another_place_is_known_to_hold_is_found() -> None:
    """Seat 1's file shows its own cards, so seat 2 cannot play one of them."""
    file = sample(PLAYED)
    own = redact(file, 1)
    i = next(i for i, a in enumerate(own.actions) if a.do == "play" and a.seat == 2)
    actions = list(own.actions)
    actions[i] = replace(actions[i], card=Card("6h"))
    assert _problem(replace(own, actions=tuple(actions))) == (
        f"actions[{i}]: card_not_held (K15): 6h is not among the cards held"
    )


def test_h7_turn_order_is_checked() -> None:
    public = redact(sample(PLAYED), "public")
    actions = list(public.actions)
    actions[1], actions[2] = actions[2], actions[1]
    assert _problem(replace(public, actions=tuple(actions))).startswith("actions[1]: not_your_turn (K7)")


def test_h7_the_turned_trump_card_is_seen_by_all() -> None:
    public = redact(sample(PLAYED), "public")
    trump = next(i for i, card in enumerate(public.deals[0]) if card is not None)
    deck = list(public.deals[0])
    deck[trump] = None
    assert _problem(replace(public, deals=(tuple(deck),))) == (
        f"deals[0][{trump}]: null, but the turned trump card is seen by all"
    )


def test_h7_what_was_not_checked_is_listed() -> None:
    longing = sample(vector("khrap", "longing: the six stays, three go, four are drawn, one of the five is discarded"))
    index = next(i for i, a in enumerate(longing.actions) if a.do == "longing")
    discard = next(i for i, a in enumerate(longing.actions) if a.do == "discard")
    unchecked = [str(note) for note in check(redact(longing, "public")).unchecked]
    assert f"actions[{index}]: the cards that 'longing' needs are not shown" in unchecked
    assert f"actions[{discard}].cards: not shown" in unchecked
    assert unchecked[0] == "deals[0]: 35 of 36 cards are not shown; any that agree with the actions were taken"
    own = [str(note) for note in check(redact(longing, longing.actions[index].seat)).unchecked]
    assert [line.split(":")[0] for line in own] == ["deals[0]"]


def test_h7_a_word_that_the_shown_cards_bar_is_found() -> None:
    """Longing needs the six of trumps; here it is played by somebody else."""
    longing = sample(vector("khrap", "longing: the six stays, three go, four are drawn, one of the five is discarded"))
    public = redact(longing, "public")
    index = next(i for i, a in enumerate(public.actions) if a.do == "longing")
    trump = next(card for card in public.deals[0] if card is not None)
    six = Card("6" + trump[1])
    swapped = [trump if c is None and i == 0 else c for i, c in enumerate(public.deals[0])]
    deck = [six if card == trump else card for card in swapped]
    deck[0] = None
    says = _problem(replace(public, deals=(tuple(deck),)))
    assert says.startswith(f"actions[{index}]: not_offered (K7): 'longing' is not offered now")


def test_s6_the_server_seed_is_kept_back_and_the_rest_of_the_shuffle_stays() -> None:
    _, file = shuffled_hand(3)
    public = redact(file, "public")
    assert public.shuffle is not None
    assert file.shuffle is not None
    assert public.shuffle == replace(file.shuffle, server_seed=None)
    report = check(public)
    assert report.holds
    assert str(report.unchecked[0]).startswith("shuffle.server_seed: not shown")


def test_h7_a_view_with_the_server_seed_is_compared_with_the_shuffle() -> None:
    file = sample(SHUFFLED)
    public = replace(redact(file, "public"), shuffle=file.shuffle)
    assert check(public).holds
    shown = next(i for i, card in enumerate(public.deals[0]) if card is not None)
    deck = list(public.deals[0])
    deck[shown], deck[shown + 1] = None, deck[shown]
    report = check(replace(public, deals=(tuple(deck), public.deals[1])))
    assert report.problems[0].field == f"deals[0][{shown + 1}]"


def test_h7_only_a_whole_file_is_redacted_and_only_for_who_is_dealt_in() -> None:
    file = sample(DREW)
    with pytest.raises(HandFileError, match="redacted already"):
        redact(redact(file, "public"), "public")
    with pytest.raises(HandFileError, match="seat 9 is not dealt in"):
        redact(file, 9)
    with pytest.raises(HandFileError, match="a refused action is seen by nobody"):
        redact(sample(REFUSED), "public")


def test_h7_a_refusal_that_hangs_on_unseen_cards_is_not_judged() -> None:
    """Made by hand, since an export has no refusals: seat 0 breaks K15 with cards that only it sees."""
    refused = sample(REFUSED)
    own = replace(refused, view=refused.actions[-1].seat)
    assert check(own).holds
    assert not check(own).unchecked
    stock = tuple(c if i == refused.deals[0].index(c) and i == 4 else None for i, c in enumerate(refused.deals[0]))
    hidden = replace(refused, view="public", deals=(stock,))
    report = check(hidden)
    assert report.holds
    assert "refusal.code: hangs on cards that are not shown" in [str(note) for note in report.unchecked]


@for_seeds(30)
def test_h7_a_shown_replay_holds_no_card_that_the_file_does_not(seed: int) -> None:
    rng = random.Random(seed)
    file = from_events(events_of(random_hand(seed)))
    redacted = redact(file, rng.choice(audiences(file)))
    text = to_json(redacted).decode()
    whole = list(replay(file))
    steps = list(replay(redacted))
    for step, true in zip(steps, whole, strict=True):
        for card in {c for p in step.hand.players for c in (*p.cards, *p.dealt)} | set(step.hand.deck):
            assert card == UNSEEN or f'"{card}"' in text
        assert [type(e) for e in step.events] == [type(e) for e in true.events]
        assert [p.purse for p in step.hand.players] == [p.purse for p in true.hand.players]
        assert [len(p.cards) for p in step.hand.players] == [len(p.cards) for p in true.hand.players]
    assert [step.action for step in steps if step.action] == list(redacted.actions)


@for_seeds(80)
def test_h7_a_file_that_shows_more_or_less_than_a_view_holds_too(seed: int) -> None:
    """Whatever is hidden of a true hand, the turned trump cards and the plays aside, a hand that agrees is found."""
    rng = random.Random(seed)
    file = from_events(events_of(random_hand(seed)))
    public = redact(file, "public")
    share = rng.random()
    deals = tuple(
        tuple(true if shown is not None or rng.random() < share else None for true, shown in zip(*cards, strict=True))
        for cards in zip(file.deals, public.deals, strict=True)
    )
    actions = tuple(
        a if a.cards is None else replace(a, cards=tuple(c if rng.random() < share else None for c in a.cards))
        for a in file.actions
    )
    partly = replace(file, view="public", deals=deals, actions=actions, shuffle=None)
    report = check(partly)
    assert report.holds, report.problems
    list(replay(partly))
