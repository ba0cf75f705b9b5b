"""Random evenings at one table, through the deciders that the service uses: every event with its stream and command.

All chance comes from the seed, so a failing evening is named by it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

from msgspec import Struct

from domain import accounts
from domain.actions import Action
from domain.commands import (
    AccountCommand,
    Act,
    ClockAct,
    CloseTable,
    CompleteClose,
    CompleteLeave,
    Deposit,
    Fresh,
    Leave,
    MoveIn,
    OpenAccount,
    OpenTable,
    Return,
    Sit,
    SitOut,
    StartHand,
    TableCommand,
    TopUp,
    Void,
    Withdraw,
)
from domain.decide import decide
from domain.events import Event, HandStarted, Settings
from domain.evolve import evolve
from domain.games import newest
from domain.hand import Hand, asked
from domain.legal import Offer, offers
from domain.options import GameName, Options
from domain.refusal import Refused
from domain.table import Table, deadline, running, start_due_ms
from tests.domain.hands import chosen, random_options

TABLE_ID = "018f0000-0000-7000-8000-0000000000aa"
TABLE_STREAM = f"table-{TABLE_ID}"
CURRENCY = "RUB"


class Entry(Struct, frozen=True):
    """One event as the log has it."""

    stream: str
    seq: int
    command_id: bytes
    at_ms: int
    event: Event


class Evening:
    """A table, its players' accounts, and the log of both as it grows."""

    def __init__(self, seed: int, game: GameName, *, seats: int | None = None, options: Options | None = None) -> None:
        self.rng = random.Random(f"evening {seed} {game}")
        self.log: list[Entry] = []
        self.heads: dict[str, int] = {}
        self.accounts: dict[str, accounts.Account] = {}
        self.table: Table | None = None
        self.now = 1_700_000_000_000
        self.commands = 0
        self.boldness = 0.5
        self.by_clock = 0.0
        rng = self.rng
        most = newest(game).max_seats
        self.players = [f"p{i}" for i in range(seats or rng.randint(2, most))]
        stake = rng.choice((0, 1, 3, 50, 2000, 2001))
        self.settings = Settings(
            currency=CURRENCY,
            stake=stake,
            entry_limit=stake * rng.choice((1, 2, 20)) or rng.choice((0, 7)),
            max_seats=most,
            commission_bps=rng.choice((0, 1, 400, 10_000)),
            options=options or random_options(rng, game),
        )

    def play(self, hands: int, *, close: bool = True) -> list[Entry]:
        """The log of so many hands and of everything between them, closed at the end if so wished."""
        self._open()
        played = 0
        for _ in range(hands * 3):
            if played == hands:
                break
            self._between()
            played += self._hand()
        if close:
            self._do(CloseTable(at_ms=self.now, reason="the evening is over"))
            self._do(CompleteClose(at_ms=self.now))
        return self.log

    # --- commands

    def _next_command(self) -> bytes:
        self.commands += 1
        return hashlib.sha256(f"{self.rng.random()} {self.commands}".encode()).digest()[:16]

    def _fresh(self) -> Fresh:
        hand_id = f"018f0000-0000-7000-8000-{self.rng.getrandbits(48):012x}"
        return Fresh(hand_id=hand_id, server_seed=self.rng.randbytes(32).hex(), key_commitment="00" * 32)

    def _write(self, stream: str, event: Event, command_id: bytes) -> None:
        self.heads[stream] = self.heads.get(stream, 0) + 1
        self.log.append(Entry(stream, self.heads[stream], command_id, self.now, event))

    def _account(self, player: str, command: AccountCommand, command_id: bytes) -> bool:
        event = accounts.decide(self.accounts.get(player), command)
        if isinstance(event, Refused):
            return False
        self.accounts[player] = accounts.evolve(self.accounts.get(player), event)
        self._write(f"account-{player}-{CURRENCY}", event, command_id)
        return True

    def _do(self, command: TableCommand) -> bool:
        """Decide and write, in the accounts' streams too; False where it is refused."""
        events = decide(self.table, command)
        if isinstance(events, Refused):
            return False
        command_id = self._next_command()
        for player, moves in accounts.moves(events, TABLE_ID, self.now).items():
            for move in moves:
                if isinstance(move, MoveIn) and self.accounts[player].balance < move.amount:
                    more = move.amount + self.rng.randint(0, 10_000)
                    assert self._account(player, Deposit(at_ms=self.now, amount=more), self._next_command())
                assert self._account(player, move, command_id)
        for event in events:
            self.table = evolve(self.table, event, self.now)
            self._write(TABLE_STREAM, event, command_id)
        return True

    # --- the evening

    def _open(self) -> None:
        assert self._do(OpenTable(at_ms=self.now, settings=self.settings, fresh=self._fresh()))
        for player in self.players:
            assert self._account(
                player, OpenAccount(at_ms=self.now, player=player, currency=CURRENCY), self._next_command()
            )

    def _buy_in(self) -> int:
        return self.settings.entry_limit + self.rng.choice((0, 0, 1, self.settings.stake * 7))

    def _between(self) -> None:
        """T3: some come, some go, some top up."""
        rng, table = self.rng, self.table
        assert table is not None
        self.now += 3_600_000 if rng.random() < 0.1 else 61_000
        sitting = {s.player: s for s in table.seats}
        for player in self.players:
            seat = sitting.get(player)
            if seat is None:
                if len(sitting) < 2 or rng.random() < 0.6:
                    self._do(Sit(at_ms=self.now, player=player, buy_in=self._buy_in() + rng.choice((0, 0, 20_000))))
            elif seat.leaving:
                self._do(CompleteLeave(at_ms=self.now, player=player))
            elif seat.sitting_out:
                self._do(Return(at_ms=self.now, player=player))
            elif seat.purse < self.settings.stake:
                self._do(TopUp(at_ms=self.now, player=player, amount=self._buy_in()))
            elif rng.random() < 0.05:
                self._do(Leave(at_ms=self.now, player=player))
            elif rng.random() < 0.03:
                self._do(SitOut(at_ms=self.now, player=player))
        if rng.random() < 0.1:
            player = rng.choice(self.players)
            self._account(player, Withdraw(at_ms=self.now, amount=1), self._next_command())

    def _hand(self) -> bool:
        rng, table = self.rng, self.table
        assert table is not None
        due = start_due_ms(table)
        if due is None:
            return False
        self.now = max(self.now, due)
        self.boldness = rng.choice((0.02, 0.4, 0.6, 0.9))
        self.by_clock = rng.choice((0.0, 0.0, 0.0, 0.1, 1.0))
        assert self._do(StartHand(at_ms=self.now))
        voids = rng.random() < 0.05
        while (hand := self._running()) is not None:
            if voids and rng.random() < 0.1:
                self._do(Void(at_ms=self.now, ops="o1", reason="a wish", fresh=self._fresh()))
                self._do(Void(at_ms=self.now, ops="o2", reason="a wish", fresh=self._fresh()))
                voids = False
                continue
            self._act(hand)
            if rng.random() < 0.01:
                self._do(Leave(at_ms=self.now, player=rng.choice(hand.players).player))
        return True

    def _running(self) -> Hand | None:
        assert self.table is not None
        return running(self.table)

    def _act(self, hand: Hand) -> None:
        table, seat = self.table, asked(hand)
        assert table is not None
        assert seat is not None
        if self.rng.random() < self.by_clock:
            due = deadline(table)
            assert due is not None
            self.now = max(self.now, due.clock_acts_ms)
            assert self._do(ClockAct(at_ms=self.now, turn=table.turn, fresh=self._fresh()))
            return
        self.now += self.rng.randint(0, 2_000)
        player = next(p.player for p in hand.players if p.seat == seat)
        action = picked(self.rng, offers(hand, seat), self.boldness)
        act = Act(at_ms=self.now, player=player, turn=table.turn, action=action, fresh=self._fresh())
        assert self._do(act), (action, hand.phase)


def picked(rng: random.Random, offered: tuple[Offer, ...], boldness: float) -> Action:
    """One of the choices: the last word is the passing one, taken unless the player is bold."""
    words = [o for o in offered if o.do != "look"]
    return chosen(rng, rng.choice(words[:-1]) if len(words) > 1 and rng.random() < boldness else words[-1])


def evening(seed: int, game: GameName, hands: int = 12) -> list[Entry]:
    """The log of a random evening."""
    return Evening(seed, game).play(hands)


def table_only(log: list[Entry]) -> list[Entry]:
    """The entries of the table's stream."""
    return [entry for entry in log if entry.stream == TABLE_STREAM]


def hands_of(log: list[Entry]) -> Iterator[list[Entry]]:
    """The table's entries, hand by hand, each from its start."""
    hand: list[Entry] = []
    for entry in table_only(log):
        if isinstance(entry.event, HandStarted) and hand:
            yield hand
            hand = []
        if hand or isinstance(entry.event, HandStarted):
            hand.append(entry)
    if hand:
        yield hand
