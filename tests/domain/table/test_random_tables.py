"""What holds at every table, whoever asks for what and when: random tables of all games and options, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from domain import commands as c
from domain.actions import WORDS
from domain.course import Course
from domain.decide import course, decide
from domain.events import (
    OPENINGS,
    TABLE_EVENTS,
    BankReturned,
    CommissionTaken,
    Event,
    FourAcesShown,
    HandCorrected,
    HandSettled,
    HandStarted,
    PlayerLeft,
    PlayerSat,
    PurseToppedUp,
    TableEvent,
    TableOpened,
    TableStateWritten,
)
from domain.evolve import evolve
from domain.evolve_hand import HANDLERS, fold, opening
from domain.hand import Hand, Over, asked, at
from domain.money import TABLE_LIMIT
from domain.options import GameName
from domain.refusal import Refused
from domain.table import STATE_EVERY, Table, deadline, may_start, money, ready, running, start_due_ms
from domain.views import legal_actions
from tests.domain.hands import EXAMPLES, every_action, offered, unhurried
from tests.domain.table.given import fresh
from tests.domain.table.random_tables import RandomTable, Step

GAMES: tuple[GameName, ...] = get_args(GameName)
COMMANDS = 300
RUNS = 6
SEEDS = EXAMPLES or RUNS
"""Seeds for each game and property."""

every_game = pytest.mark.parametrize("game", GAMES)


def every_seed(test: Callable[[int, GameName], None]) -> Callable[[int, GameName], None]:
    """The test with each seed, in six runs of as many: KHRAP_EXAMPLES=100000 as tests of their own fill the memory."""

    def run(first: int, game: GameName) -> None:
        for seed in range(first, SEEDS, RUNS):
            try:
                test(seed, game)
            except BaseException as error:
                error.add_note(f"seed={seed}")
                raise

    run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
    return unhurried(pytest.mark.parametrize("first", range(min(RUNS, SEEDS)))(run))


@lru_cache(maxsize=RUNS * len(GAMES))
def played(seed: int, game: GameName) -> tuple[Step, ...]:
    """All that happened at a random table; most properties look at the same ones."""
    return tuple(RandomTable(seed, game).play(COMMANDS))


def brought(event: Event) -> int:
    """What an event brings to the table, in minor units; less than zero where it takes."""
    match event:
        case PlayerSat(buy_in=amount) | PurseToppedUp(amount=amount):
            return amount
        case PlayerLeft(purse=amount) | BankReturned(amount=amount) | CommissionTaken(amount=amount):
            return -amount
        case _:
            return 0


@every_game
@every_seed
def test_t1_t2_t7_t8_money_is_kept_at_every_event(seed: int, game: GameName) -> None:
    random_table = RandomTable(seed, game)
    house = there = 0
    for step in random_table.play(COMMANDS):
        for event, table in zip(step.events, step.tables, strict=True):
            there += brought(event)
            house += event.amount if isinstance(event, CommissionTaken) else 0
            assert money(table) == there, event
            assert all(s.purse >= 0 for s in table.seats)
            assert table.carried_bank >= 0
            assert table.hand is None or min(table.hand.bank, *(p.purse for p in table.hand.players)) >= 0
        assert there <= TABLE_LIMIT
        assert there + house + sum(a.balance for a in random_table.balances.values()) == random_table.deposited


@every_game
@every_seed
def test_what_is_wrong_at_a_moment_is_refused(seed: int, game: GameName) -> None:
    random_table = RandomTable(seed, game)
    for step in random_table.play(COMMANDS // 2):
        if step.after.closed:
            break
        for command, codes in random_table.wrong():
            refused = decide(step.after, command)
            assert isinstance(refused, Refused), (command, refused)
            assert refused.code in codes, (command, refused)


@every_game
@every_seed
def test_a_table_can_always_go_on(seed: int, game: GameName) -> None:
    """Someone is asked; or a hand can start once two are ready; or ops have stopped it."""
    for step in played(seed, game):
        table = step.after
        _orderly(step)
        due = deadline(table)
        if running(table) is not None:
            assert due is not None
            assert table.next_hand is None
            assert due.clock_acts_ms >= due.turn_ends_ms >= table.opened_at_ms
            assert table.ready_at_ms is None
            continue
        assert due is None
        assert (table.next_hand is None) == table.closed
        stopped = table.halt is not None or table.closing
        assert may_start(table) == (not stopped and len(ready(table)) >= 2)
        assert (start_due_ms(table) is not None) == may_start(table)
        assert table.since_state < STATE_EVERY or table.closed
        if may_start(table):
            started = decide(table, c.StartHand(at_ms=start_due_ms(table) or 0))
            assert not isinstance(started, Refused)


def _orderly(step: Step) -> None:
    """Seats ascend, a player sits once, turns and times never go back, a hand's players stay to its end."""
    before, table = step.before, step.after
    seats, players = [s.seat for s in table.seats], [s.player for s in table.seats]
    assert seats == sorted(set(seats))
    assert len(set(players)) == len(players)
    assert all(0 <= s < table.settings.max_seats for s in seats)
    if before is not None:
        assert before.turn <= table.turn
        assert before.at_ms <= table.at_ms
    hand = running(table)
    assert hand is None or {(p.seat, p.player) for p in hand.players} <= {(s.seat, s.player) for s in table.seats}


@every_game
@every_seed
def test_t11_t12_every_hand_ends_if_only_the_clock_acts(seed: int, game: GameName) -> None:
    rng = random.Random(seed)
    for step in played(seed, game):
        if running(step.after) is not None and rng.random() < 0.03:
            _ended_by_the_clock(step.after)


def _ended_by_the_clock(table: Table) -> None:
    hand_id = table.hand.hand_id if table.hand else ""
    # At most two deals, of four circles of twelve words, then draws, discards and five tricks.
    for _ in range(2 * 4 * 12 + 12 * 8):
        due = deadline(table)
        if due is None:
            break
        events = decide(table, c.ClockAct(at_ms=due.clock_acts_ms, turn=table.turn, fresh=fresh(1)))
        assert not isinstance(events, Refused)
        for event in events:
            table = evolve(table, event, due.clock_acts_ms)
    assert table.hand is not None
    assert table.hand.hand_id == hand_id
    assert isinstance(table.hand.phase, Over)


@every_game
@every_seed
def test_h3_legal_actions_and_decide_agree_on_every_action(seed: int, game: GameName) -> None:
    """Of the player who is asked and of another, and of one who is out or has no cards yet."""
    rng = random.Random(f"agree {seed} {game}")
    steps = [step for step in played(seed, game) if running(step.after) is not None]
    for step in rng.sample(steps, min(5, len(steps))):
        table, hand = step.after, running(step.after)
        assert hand is not None
        for player in {at(hand, asked(hand) or 0).player, rng.choice(hand.players).player}:
            seat = next(p.seat for p in hand.players if p.player == player)
            for action in every_action(hand, seat):
                act = c.Act(at_ms=table.at_ms, player=player, turn=table.turn, action=action, fresh=fresh(1))
                is_legal = offered(hand, seat, action)
                assert isinstance(decide(table, act), Refused) != is_legal, (player, action)
                if action.do in WORDS:
                    assert is_legal == (action.do in {o.do for o in legal_actions(table, player)})


# --- folds


@every_game
@every_seed
def test_the_tables_that_a_decision_gives_are_those_of_the_fold(seed: int, game: GameName) -> None:
    for step in played(seed, game):
        taken = course(step.before, step.command)
        assert isinstance(taken, Course)
        assert (tuple(taken.events), tuple(taken.tables)) == (step.events, tuple(step.tables))


@every_game
@every_seed
def test_a_hand_folded_from_its_start_alone_is_the_one_of_the_whole_table(seed: int, game: GameName) -> None:
    hand: Hand | None = None
    for step in played(seed, game):
        for event, table in zip(step.events, step.tables, strict=True):
            if isinstance(event, OPENINGS):
                hand = opening(event) if isinstance(event, HandStarted) else None
            elif type(event) in HANDLERS:
                assert hand is not None
                hand = fold(hand, (event,))
            assert hand == table.hand


@every_game
@every_seed
def test_a_fold_from_any_opening_event_is_the_fold_from_the_start(seed: int, game: GameName) -> None:
    log = [(e, step.command.at_ms) for step in played(seed, game) for e in step.events]
    whole: Table | None = None
    folds: list[Table] = []
    for event, at_ms in log:
        whole = evolve(whole, event, at_ms)
        # The last three are followed to the end of the log, each exactly equal after every event.
        folds = [evolve(fold, event, at_ms) for fold in folds[-3:]]
        assert all(fold == whole for fold in folds)
        if isinstance(event, OPENINGS):
            folds.append(evolve(None, event, at_ms))
    assert isinstance(log[0][0], TableOpened)


@every_game
@every_seed
def test_an_opening_state_loses_nothing_but_what_begins_anew(seed: int, game: GameName) -> None:
    for step in played(seed, game):
        befores = (step.before, *step.tables[:-1])
        for before, event, after in zip(befores, step.events, step.tables, strict=True):
            if before is None or not isinstance(event, TableStateWritten | HandStarted):
                continue
            anew = replace(before, acts=(), hand=None, deal_turn=before.turn, opened_at_ms=0, since_state=0)
            if isinstance(event, TableStateWritten):
                assert after == anew
            else:
                counted = tuple(
                    replace(s, idle_hands=0, idle_since_ms=None)
                    if s.seat in event.dealt_in
                    else replace(s, idle_hands=s.idle_hands + 1)
                    for s in before.seats
                )
                expected = replace(anew, seats=counted, next_hand=None, ready_at_ms=None, at_ms=after.at_ms)
                assert replace(after, hand=None, shuffle=None) == expected
                assert after.hand is not None
                assert asked(after.hand) is None


@every_game
@every_seed
def test_events_are_read_back_from_json_as_they_were(seed: int, game: GameName) -> None:
    for step in played(seed, game):
        for event in step.events:
            assert msgspec.json.decode(msgspec.json.encode(event), type=TableEvent) == event


def test_random_tables_come_to_nearly_everything() -> None:
    steps = [step for game in GAMES for seed in range(6) for step in played(seed, game)]
    # What was settled right is not corrected: tests/domain/ledger/test_correcting.py settles wrongly first.
    assert {type(step.command) for step in steps} == set(c.TableCommand.__args__) - {c.CorrectHand}
    # Four aces are dealt once in 58,905 hands of khrap.
    came = {type(event) for step in steps for event in step.events}
    assert came >= set(TABLE_EVENTS) - {FourAcesShown, HandCorrected}
    endings = {event.result.ending for step in steps for event in step.events if isinstance(event, HandSettled)}
    assert endings == {"played", "uncontested"}
