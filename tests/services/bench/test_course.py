"""The load generator's own account of a hand agrees with the rules, so that it never asks for what is refused."""

import random

import msgspec
import pytest

from domain.actions import Action
from domain.commands import Act, Fresh, OpenTable, Sit, StartHand, TableCommand
from domain.decide import decide
from domain.events import Event, Settings
from domain.evolve import evolve
from domain.halves import private_half, public_event
from domain.hand import asked
from domain.legal import clock_action
from domain.options import KhrapOptions
from domain.refusal import Refused
from domain.table import Table, running, seat_at
from domain.views import own_cards
from services.bench.course import Course

SETTINGS = Settings(currency="RUB", stake=0, entry_limit=0, max_seats=5, commission_bps=0, options=KhrapOptions())


class Game:
    """A table in memory."""

    def __init__(self, seed: int, players: int) -> None:
        self.chance = random.Random(seed)
        self.table: Table | None = None
        self.at_ms = 1_700_000_000_000
        self.do(OpenTable(at_ms=self.at_ms, settings=SETTINGS, fresh=self.fresh()))
        for i in range(players):
            self.do(Sit(at_ms=self.at_ms, player=f"p{i}", buy_in=1))

    def fresh(self) -> Fresh:
        number = self.chance.getrandbits(62)
        hand_id = f"018f0000-0000-7000-8{number % 4096:03x}-{number:012x}"[:36]
        return Fresh(hand_id=hand_id, server_seed=self.chance.randbytes(32).hex(), key_commitment=64 * "0")

    def do(self, command: TableCommand) -> list[tuple[Event, Table]]:
        events = decide(self.table, command)
        assert not isinstance(events, Refused), events
        done = []
        for event in events:
            self.table = evolve(self.table, event, self.at_ms)
            done.append((event, self.table))
        return done

    def act(self, player: str, action: Action) -> list[tuple[Event, Table]]:
        turn, fresh = self.now().turn, self.fresh()
        return self.do(Act(at_ms=self.at_ms, player=player, turn=turn, action=action, fresh=fresh))

    def now(self) -> Table:
        assert self.table is not None
        return self.table


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_course_knows_who_is_asked_and_what_is_legal(players: int) -> None:
    game = Game(players, players)
    finished = 0
    for _ in range(200):
        game.at_ms += 10_000
        game.do(StartHand(at_ms=game.at_ms))
        hand = game.now().hand
        assert hand is not None
        assert hand.trump_card is not None
        cards = {p.seat: own_cards(game.now(), p.player) or () for p in hand.players}
        course = Course([p.seat for p in hand.players], hand.dealer, hand.trump_card, cards)
        while (seat := course.asked) is not None:
            now = running(game.now())
            assert now is not None
            assert seat == asked(now)
            sitting = seat_at(game.now(), seat)
            assert sitting is not None
            chosen = course.choose(game.chance)
            done = game.act(sitting.player, msgspec.convert(chosen, Action))
            course.take([{**public_event(e), **(private_half(t, e, sitting.player) or {})} for e, t in done])
        finished += course.over
        while (now := running(game.now())) is not None:  # a new deal of the hand: the course is given up
            seat = asked(now)
            assert seat is not None
            sitting = seat_at(game.now(), seat)
            assert sitting is not None
            action = clock_action(now)
            game.do(
                Act(at_ms=game.at_ms, player=sitting.player, turn=game.now().turn, action=action, fresh=game.fresh())
            )
    assert finished > 100
