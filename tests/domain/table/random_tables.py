"""Random tables of the three games, command by command: all that players, clock, steward and ops may ask for.

All chance comes from the seed. Every command that is yielded was accepted; `wrong` makes those that must not be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from domain import accounts
from domain import commands as c
from domain.accounts import Account
from domain.actions import Action
from domain.decide import decide
from domain.decide_seats import idle_due_ms
from domain.events import Event, Seat, Settings
from domain.evolve import evolve
from domain.games import newest
from domain.hand import asked, at, find
from domain.legal import clock_action, offers
from domain.options import GameName
from domain.refusal import Code, Refused
from domain.table import Table, deadline, in_hand, least_buy_in, running, seat_of, start_due_ms
from tests.domain.hands import chosen, random_options

TABLE_ID = "018f0000-0000-7000-8000-0000000000aa"
ACT_WORD = Action(do="pass")
RARE = ("helicopter", "ace", "longing", "frap_blind")
"""Words that are taken wherever one is bold and has them."""


class Step(Struct, frozen=True, kw_only=True):
    """A command that was accepted: its events, and the table after each of them."""

    before: Table | None
    command: c.TableCommand
    events: tuple[Event, ...]
    tables: tuple[Table, ...]

    @property
    def after(self) -> Table:
        """The table after all of them."""
        return self.tables[-1]


Wrong = tuple[c.TableCommand, set[Code]]
"""A command that must be refused, and the codes that may say so."""


class RandomTable:
    """A table, its players and their accounts."""

    def __init__(self, seed: int, game: GameName) -> None:
        rng = random.Random(f"table {seed} {game}")
        self.rng = rng
        self.now = 1_700_000_000_000
        self.table: Table | None = None
        self.deposited = 0
        self.balances: dict[str, Account] = {}
        self.boldness = rng.choice((0.3, 0.6, 0.9))
        self.absence = rng.choice((0.0, 0.05, 0.5))
        self.restlessness = rng.choice((0.02, 0.1, 0.2, 0.97))
        most = newest(game).max_seats
        stake = rng.choice((0, 1, 3, 50, 2_000, 2_001))
        self.settings = Settings(
            currency="RUB",
            stake=stake,
            entry_limit=stake * rng.choice((1, 2, 20)),
            max_seats=rng.randint(2, most),
            commission_bps=rng.choice((0, 1, 400, 10_000)),
            options=random_options(rng, game),
            seed_disclosure=rng.choice(("after_hand", "compliance_only")),
            time_bank_ms=rng.choice((0, 20_000)),
            pause_ms=rng.choice((0, 3_000)),
        )
        self.players = [f"p{i}" for i in range(self.settings.max_seats + 2)]
        for player in self.players:
            self._account(player, c.OpenAccount(at_ms=self.now, player=player, currency="RUB"))

    def play(self, commands: int) -> Iterator[Step]:
        """The table through about so many accepted commands, closed at the end more often than not."""
        yield self._accepted(c.OpenTable(at_ms=self.now, settings=self.settings, fresh=self.fresh()))
        for _ in range(self.rng.randint(2, self.settings.max_seats)):
            step = self._sent(self._sit(self.known()))
            if step is not None:
                yield step
        for _ in range(commands):
            if self.known().closed:
                return
            self.now += self.rng.choice((0, 1, 500, 2_000))
            step = self._sent(self._command(self.known()))
            if step is not None:
                yield step
        if self.rng.random() < 0.7:
            yield from self._closed()

    def _closed(self) -> Iterator[Step]:
        """The table closes, and the clock plays out the running hand."""
        if not self.known().closing:
            yield self._accepted(c.CloseTable(at_ms=self.now, reason="late"))
        while (due := deadline(self.known())) is not None:
            self.now = max(self.now, due.clock_acts_ms)
            yield self._accepted(c.ClockAct(at_ms=self.now, turn=self.known().turn, fresh=self.fresh()))
        if self.known().halt is not None:
            yield self._accepted(c.ResumeTable(at_ms=self.now, reason="well"))
        yield self._accepted(c.CompleteClose(at_ms=self.now))

    def known(self) -> Table:
        """The table, once it was opened."""
        assert self.table is not None
        return self.table

    def fresh(self) -> c.Fresh:
        """A new hand's id and seed."""
        hand_id = f"018f0000-0000-7000-8000-{self.rng.getrandbits(48):012x}"
        return c.Fresh(hand_id=hand_id, server_seed=self.rng.randbytes(32).hex(), key_commitment="00" * 32)

    # --- sending

    def _account(self, player: str, command: c.AccountCommand) -> None:
        event = accounts.decide(self.balances.get(player), command)
        assert not isinstance(event, Refused), (player, command, event)
        self.balances[player] = accounts.evolve(self.balances.get(player), event)

    def _accepted(self, command: c.TableCommand) -> Step:
        step = self._sent(command)
        assert step is not None, command
        return step

    def _sent(self, command: c.TableCommand) -> Step | None:
        before = self.table
        events = decide(before, command)
        assert events == decide(before, command), "deciding twice comes to the same"
        if isinstance(events, Refused):
            return None
        tables = []
        for event in events:
            self.table = evolve(self.table, event, command.at_ms)
            tables.append(self.table)
        for player, wanted in accounts.moves(events, TABLE_ID, command.at_ms).items():
            for move in wanted:
                lacking = move.amount - self.balances[player].balance
                if isinstance(move, c.MoveIn) and lacking > 0:
                    self._account(player, c.Deposit(at_ms=self.now, amount=lacking))
                    self.deposited += lacking
                self._account(player, move)
        return Step(before=before, command=command, events=events, tables=tuple(tables))

    # --- what to ask for

    def _command(self, table: Table) -> c.TableCommand:
        rng = self.rng
        due = self._steward(table)
        if due is not None and rng.random() < 0.8:
            return due
        if rng.random() < self.restlessness:
            return self._restless(table)
        if running(table) is not None:
            return self._decision(table)
        start = start_due_ms(table)
        if start is not None:
            self.now = max(self.now, start)
            return c.StartHand(at_ms=self.now)
        return self._gathering(table)

    def _steward(self, table: Table) -> c.TableCommand | None:
        """What the steward would do now."""
        if table.halt is not None:
            return c.ResumeTable(at_ms=self.now, reason="well") if self.rng.random() < 0.2 else None
        if table.closing and running(table) is None:
            return c.CompleteClose(at_ms=self.now)
        for seat in table.seats:
            idle = idle_due_ms(table, seat)
            if in_hand(table, seat.seat):
                continue
            if seat.leaving:
                return c.CompleteLeave(at_ms=self.now, player=seat.player)
            if idle is not None and idle <= self.now:
                return c.RemoveIdle(at_ms=self.now, player=seat.player)
            if seat.auto_top_up and seat.purse < seat.buy_in:
                return c.AutoTopUp(at_ms=self.now, player=seat.player)
        return None

    def _decision(self, table: Table) -> c.TableCommand:
        """The asked player acts, or someone looks, or the clock acts for him, at times after a renewal."""
        rng, hand, due = self.rng, running(table), deadline(table)
        assert hand is not None
        assert due is not None
        if rng.random() < self.absence:
            if rng.random() < 0.05:
                return c.RenewDeadlines(at_ms=self.now, turn=table.turn)
            self.now = max(self.now, due.clock_acts_ms)
            return c.ClockAct(at_ms=self.now, turn=table.turn, fresh=self.fresh())
        seat = due.seat
        lookers = [p.seat for p in hand.players if p.seat != due.seat and offers(hand, p.seat)]
        if lookers and rng.random() < 0.1:
            return self._act(table, at(hand, rng.choice(lookers)).player, Action(do="look"))
        if rng.random() < 0.05:
            self.now += rng.randint(0, 40_000)
        words = offers(hand, seat)
        passes = [o for o in words if o.do in ("pass", "decline")]
        rare = [o for o in words if o.do in RARE]
        offer = passes[0] if passes and rng.random() > self.boldness else rng.choice(rare or words)
        return self._act(table, at(hand, seat).player, chosen(rng, offer))

    def _act(self, table: Table, player: str, action: Action) -> c.Act:
        return c.Act(at_ms=self.now, player=player, turn=table.turn, action=action, fresh=self.fresh())

    def _gathering(self, table: Table) -> c.TableCommand:
        """Too few are ready: someone sits down, comes back, tops up; or time goes by."""
        rng = self.rng
        if rng.random() < 0.1:
            self.now += rng.choice((60_000, 600_000, 1_800_000))
        away = [s for s in table.seats if s.sitting_out or s.purse < self.settings.stake]
        if away and rng.random() < 0.7:
            seat = rng.choice(away)
            if seat.sitting_out:
                return c.Return(at_ms=self.now, player=seat.player)
            return c.TopUp(at_ms=self.now, player=seat.player, amount=self.settings.entry_limit + 1)
        return self._sit(table)

    def _sit(self, table: Table) -> c.Sit:
        rng = self.rng
        player = rng.choice(self.players)
        least = max(1, least_buy_in(table, player, self.now))
        buy_in = least + rng.choice((0, 0, 1, 10 * self.settings.stake))
        return c.Sit(at_ms=self.now, player=player, buy_in=buy_in, auto_top_up=rng.random() < 0.3)

    def _restless(self, table: Table) -> c.TableCommand:
        """Anything that may be asked for at any time, accepted or not."""
        rng, now = self.rng, self.now
        player = rng.choice([s.player for s in table.seats] or self.players)
        ops = rng.choice(("olga", "pavel"))
        choices: list[tuple[int, Callable[[], c.TableCommand]]] = [
            (6, lambda: self._sit(table)),
            (6, lambda: c.SitOut(at_ms=now, player=player)),
            (6, lambda: c.Return(at_ms=now, player=player)),
            (4, lambda: c.Leave(at_ms=now, player=player)),
            (4, lambda: c.TopUp(at_ms=now, player=player, amount=rng.randint(1, 5_000))),
            (8, lambda: c.SetClientSeed(at_ms=now, player=player, client_seed=rng.randbytes(4).hex())),
            (1, lambda: c.HaltTable(at_ms=now, reason="books", fault=rng.random() < 0.5)),
            (1, lambda: c.ResumeTable(at_ms=now, reason="well")),
            (2, lambda: c.Void(at_ms=now, ops=ops, reason="a wish", fresh=self.fresh())),
            (1, lambda: c.CommitAnew(at_ms=now, fresh=self.fresh())),
            (1, lambda: c.CloseTable(at_ms=now, reason="late") if rng.random() < 0.05 else self._sit(table)),
        ]
        weights = [weight for weight, _ in choices]
        return rng.choices([make for _, make in choices], weights)[0]()

    # --- what must be refused

    def wrong(self) -> Iterator[Wrong]:
        """Commands that are wrong at this moment."""
        table, now = self.known(), self.now
        yield from self._wrong_in_the_hand(table)
        yield from self._wrong_between(table)
        for seat in table.seats:
            yield from self._wrong_for(table, seat)
        stranger = "a-stranger"
        for command in (
            c.Leave(at_ms=now, player=stranger),
            c.SitOut(at_ms=now, player=stranger),
            c.TopUp(at_ms=now, player=stranger, amount=1),
            self._act(table, stranger, ACT_WORD),
        ):
            yield command, {"not_seated"}

    def _wrong_in_the_hand(self, table: Table) -> Iterator[Wrong]:
        now, hand, due = self.now, running(table), deadline(table)
        for turn in (table.turn - 1, table.turn + 1):
            yield c.ClockAct(at_ms=now + 100_000, turn=turn, fresh=self.fresh()), {"stale_turn"}
            yield c.RenewDeadlines(at_ms=now, turn=turn), {"stale_turn"}
        if hand is None:
            yield c.Void(at_ms=now, ops="olga", reason="none", fresh=self.fresh()), {"hand_over"}
            yield c.ClockAct(at_ms=now + 100_000, turn=table.turn, fresh=self.fresh()), {"stale_turn"}
            return
        assert due is not None
        early = c.ClockAct(at_ms=due.clock_acts_ms - 1, turn=table.turn, fresh=self.fresh())
        yield early, {"not_offered"}
        yield c.StartHand(at_ms=now + 100_000), {"not_offered"}
        yield c.CompleteClose(at_ms=now), {"in_hand" if table.closing else "not_offered"}
        for p in hand.players:
            own = self._act(table, p.player, clock_action(hand))
            yield replace(own, turn=table.turn - 1), {"stale_turn"}
            yield replace(own, turn=table.turn + 1), {"stale_turn"}
            if p.seat != asked(hand):
                yield own, {"not_your_turn"}

    def _wrong_between(self, table: Table) -> Iterator[Wrong]:
        now, start = self.now, start_due_ms(table)
        yield c.StartHand(at_ms=now + 100_000 if start is None else start - 1), {"not_offered"}
        if table.halt is None:
            yield c.ResumeTable(at_ms=now, reason="none"), {"not_offered"}
        else:
            yield c.HaltTable(at_ms=now, reason="again"), {"table_halted"}
        if table.closing:
            yield c.CloseTable(at_ms=now, reason="again"), {"table_closing"}
        elif running(table) is None:
            yield c.CompleteClose(at_ms=now), {"not_offered"}
        newcomer = next(p for p in self.players if seat_of(table, p) is None)
        barred: set[Code] = {"table_closing", "table_halted", "table_full"}
        for seat in table.seats:
            yield c.Sit(at_ms=now, player=newcomer, buy_in=2**40, seat=seat.seat), {"seat_taken", *barred}
        if self.settings.entry_limit:
            poor = c.Sit(at_ms=now, player=newcomer, buy_in=self.settings.entry_limit - 1)
            yield poor, {"below_entry_limit", *barred}
        yield c.Sit(at_ms=now, player=newcomer, buy_in=2**50 + 1), {"table_limit", *barred}

    def _wrong_for(self, table: Table, seat: Seat) -> Iterator[Wrong]:
        now, player, hand = self.now, seat.player, running(table)
        yield c.Sit(at_ms=now, player=player, buy_in=2**40), {"already_seated"}
        yield c.RemoveIdle(at_ms=seat.idle_since_ms or now, player=player), {"not_offered"}
        if seat.leaving:
            yield c.Leave(at_ms=now, player=player), {"not_offered"}
        else:
            yield c.CompleteLeave(at_ms=now, player=player), {"not_offered"}
        if not seat.auto_top_up:
            yield c.AutoTopUp(at_ms=now, player=player), {"not_offered"}
        away: type[c.SitOut | c.Return] = c.SitOut if seat.sitting_out else c.Return
        yield away(at_ms=now, player=player), {"not_offered"}
        stale_seed = c.SetClientSeed(at_ms=now, player=player, client_seed="aa", hand_id=TABLE_ID)
        yield stale_seed, {"not_offered"}
        if hand is None:
            yield self._act(table, player, ACT_WORD), {"hand_over"}
            return
        yield replace(stale_seed, hand_id=None), {"not_offered"}
        if find(hand, seat.seat) is None:
            yield self._act(table, player, ACT_WORD), {"not_in_hand"}
        else:
            yield c.TopUp(at_ms=now, player=player, amount=1), {"in_hand"}
