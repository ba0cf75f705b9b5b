"""Random play at a table by the rules alone: the domain decides and folds, nobody waits for HTTP or a clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from msgspec import Struct

from domain.actions import Action, Do
from domain.commands import Act, Fresh, OpenTable, Sit, StartHand, TableCommand, TopUp
from domain.decide import course
from domain.events import Event, Settings
from domain.hand import asked, at
from domain.legal import Offer, offers
from domain.options import FrapOptions, GameName, Khrap5Options, KhrapOptions, Options
from domain.refusal import Refused
from domain.table import Table, running, short

STAKE = 100
PAUSE_MS = 1_000
"""How far the table's time goes on with each command."""
BOLDNESS = 0.35
"""How often one who could pass says something else: as the bots do, so that play is of all kinds."""
SHY = ("pass", "decline")

T = TypeVar("T")
OnEvents = Callable[[Sequence[Event], int], None]
"""Told of the events of each command, and when they were."""


class Evening(Struct, frozen=True):
    """What is played, and by how many."""

    options: Options
    players: int
    commission_bps: int = 0


EVENINGS: dict[GameName, Evening] = {
    "khrap": Evening(KhrapOptions(), 4, 400),
    "frap": Evening(FrapOptions(), 6),
    "khrap5": Evening(Khrap5Options(), 5),
}


def settings_of(evening: Evening) -> Settings:
    """The settings of such a table."""
    return Settings(
        currency="RUB",
        stake=STAKE,
        entry_limit=20 * STAKE,
        max_seats=evening.players,
        commission_bps=evening.commission_bps,
        options=evening.options,
        pause_ms=PAUSE_MS,
    )


class SelfPlay:
    """One table where all play by chance; whoever is short tops up, so that play never stops.

    `fresh` makes the id and the seed of each hand to come; `told` gets the events of every command.
    """

    def __init__(
        self,
        settings: Settings,
        seed: object,
        fresh: Callable[[int], Fresh],
        told: OnEvents = lambda events, at_ms: None,
    ) -> None:
        self.decisions = 0
        self._settings = settings
        self._chance = random.Random(str(seed))  # noqa: S311 (choices at play)
        self._make_fresh = fresh
        self._told = told
        self._at_ms = 1_700_000_000_000
        self._table: Table | None = None
        self._fresh: Fresh | None = None

    @property
    def table(self) -> Table:
        """The table as it stands."""
        assert self._table is not None, "begin first"
        return self._table

    def begin(self) -> None:
        """Open the table and seat the players."""
        self._do(OpenTable(at_ms=self._next_ms(), settings=self._settings, fresh=self._next_fresh()))
        for seat in range(self._settings.max_seats):
            self._do(Sit(at_ms=self._next_ms(), player=f"p{seat}", buy_in=self._settings.entry_limit))

    def start(self) -> bool:
        """Start a hand; whether it runs."""
        for seat in self.table.seats:
            if short(self.table, seat):
                self._do(TopUp(at_ms=self._next_ms(), player=seat.player, amount=self._settings.entry_limit))
        self._do(StartHand(at_ms=self._next_ms()))
        return running(self.table) is not None

    def act(self) -> bool:
        """Have the player who is asked decide; whether the hand goes on."""
        table = self.table
        hand = running(table)
        assert hand is not None, "start a hand first"
        seat = asked(hand)
        assert seat is not None, hand.phase
        action = picked(offers(hand, seat), self._chance)
        fresh = self._next_fresh()
        self._do(Act(at_ms=self._next_ms(), player=at(hand, seat).player, turn=table.turn, action=action, fresh=fresh))
        self.decisions += 1
        return running(self.table) is not None

    def hand(self) -> None:
        """A whole hand."""
        goes_on = self.start()
        while goes_on:
            goes_on = self.act()

    def _next_ms(self) -> int:
        self._at_ms += PAUSE_MS
        return self._at_ms

    def _next_fresh(self) -> Fresh:
        """Kept until a command commits to it, as the service does."""
        if self._fresh is None:
            self._fresh = self._make_fresh(self._at_ms)
        return self._fresh

    def _do(self, command: TableCommand) -> None:
        taken = course(self._table, command)
        assert not isinstance(taken, Refused), taken
        self._table = taken.table
        if self._fresh is not None and taken.table.next_hand is not None:
            self._fresh = None if taken.table.next_hand.hand_id == self._fresh.hand_id else self._fresh
        self._told(taken.events, command.at_ms)


def _one_of(choices: Sequence[T], chance: random.Random) -> T:
    """As `random.choice`, at a third of its time: what is measured is the rules."""
    return choices[int(chance.random() * len(choices))]


def picked(offered: tuple[Offer, ...], chance: random.Random) -> Action:
    """One of the offers as an action. F2: cards that lie face down are looked at first."""
    if offered[-1].do == "look":
        return Action(do="look")
    shy = [o for o in offered if o.do in SHY]
    among = [o for o in offered if o.do not in SHY] if not shy or chance.random() < BOLDNESS else shy
    offer = _one_of(among or shy, chance)
    if offer.do == "play":
        return Action(do="play", card=_one_of(offer.cards, chance))
    do = cast(Do, offer.do)
    if offer.do not in ("discard", "draw"):
        return Action(do=do)
    return Action(do=do, cards=tuple(chance.sample(offer.cards, chance.randint(offer.least, offer.most))))
