"""given(events).when(command).then(events | refused): a table as its events made it, a command, and what comes of it.

Events and refusals are compared whole. Times are milliseconds from the first event on, which was at `T0`.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Self

from msgspec.structs import replace

from domain import commands as c
from domain.actions import Action, Do
from domain.cards import Card, deck
from domain.decide import decide
from domain.events import (
    CardsDealt,
    DealtIn,
    Event,
    HandCommitted,
    HandStarted,
    PlayerResult,
    PlayerSat,
    Seat,
    SeedDisclosed,
    Settings,
    TableOpened,
    TableRecord,
    TableStateWritten,
    TrumpTurned,
)
from domain.evolve import evolve
from domain.games import game_of
from domain.hand import Answering, Hand, asked, at
from domain.options import FrapOptions, Khrap5Options, KhrapOptions
from domain.refusal import Code, Refused
from domain.table import Table, running, seat_of

T0 = 1_700_000_000_000
STAKE = 2_000
LIMIT = 40_000
TURN = 15_000
TIME_BANK = 20_000
PAUSE = 3_000
MINUTE = 60_000

KHRAP = Settings(
    currency="RUB",
    stake=STAKE,
    entry_limit=LIMIT,
    max_seats=5,
    commission_bps=400,
    options=KhrapOptions(),
)
FRAP = replace(KHRAP, max_seats=12, commission_bps=0, options=FrapOptions())
KHRAP5 = replace(KHRAP, max_seats=9, commission_bps=0, options=Khrap5Options())

Make = Callable[[Table, int], c.TableCommand]
"""From a table and the time to a command."""


class After(int):
    """So many milliseconds pass."""


# --- events


def hand_id(n: int) -> str:
    """The id of a table's n-th hand in these tests."""
    return f"018f0000-0000-7000-8000-{n:012x}"


def server_seed(n: int) -> bytes:
    """The server seed of a table's n-th hand in these tests."""
    return bytes([n]) * 32


def fresh(n: int) -> c.Fresh:
    """What the n-th hand is made of."""
    return c.Fresh(hand_id=hand_id(n), server_seed=server_seed(n).hex(), key_commitment=f"{n:064x}")


def committed(n: int) -> HandCommitted:
    """S2, in the rulebook's words."""
    id_bytes = bytes.fromhex(hand_id(n).replace("-", ""))
    commitment = sha256(b"khrap-commit/1" + b"\0" + id_bytes + server_seed(n)).hexdigest()
    made = fresh(n)
    return HandCommitted(
        hand_id=made.hand_id,
        commitment=commitment,
        key_commitment=made.key_commitment,
        server_seed=made.server_seed,
    )


def disclosed(n: int, *, used: bool = True) -> SeedDisclosed:
    """S6."""
    return SeedDisclosed(hand_id=hand_id(n), to="after_hand", used=used, server_seed=server_seed(n).hex())


def opened(settings: Settings = KHRAP) -> tuple[Event, ...]:
    """A new table."""
    return (TableOpened(settings=settings), committed(1))


NAMES = (
    "anna", "boris", "vera", "gleb", "dina", "egor", "zhenya", "zoya", "ivan", "kira", "lev", "maria",
)  # fmt: skip
"""Who sits where: anna at seat 0, and so on."""


def sat(*seats: int, buy_in: int = LIMIT) -> tuple[PlayerSat, ...]:
    """Players sit down, each with `buy_in`."""
    return tuple(PlayerSat(seat=s, player=NAMES[s], buy_in=buy_in) for s in seats)


def seat(n: int, purse: int = LIMIT) -> Seat:
    """A player between hands, ready or short."""
    return Seat(seat=n, player=NAMES[n], purse=purse, buy_in=LIMIT)


def dealt_in(*seats: int) -> tuple[DealtIn, ...]:
    """Who was dealt into the last settled hand."""
    return tuple(DealtIn(seat=s, player=NAMES[s]) for s in seats)


def written(
    *seats: Seat,
    settings: Settings = KHRAP,
    carried_bank: int = 0,
    dealer: int | None = None,
    last_dealt_in: tuple[DealtIn, ...] = (),
) -> TableStateWritten:
    """A table somewhere in its life, between hands, its first hand committed to."""
    record = TableRecord(
        settings=settings,
        seats=seats,
        carried_bank=carried_bank,
        dealer=dealer,
        last_dealt_in=last_dealt_in,
        ready_at_ms=T0 if len(seats) >= 2 else None,
    )
    made = committed(1)
    return TableStateWritten(
        table=record, hand_id=made.hand_id, commitment=made.commitment, server_seed=made.server_seed
    )


def cards(text: str) -> tuple[Card, ...]:
    """Cards, from their names with blanks between."""
    return tuple(Card(name) for name in text.split())


def stacked(size: int, *hands: str, then: str) -> tuple[Card, ...]:
    """A deck that deals these hands, in the order of the deal, then turns a card and goes on: `then`, and the rest."""
    dealt = [card for round_ in zip(*map(cards, hands), strict=True) for card in round_]
    named = (*dealt, *cards(then))
    assert len(set(named)) == len(named), "a card twice"
    return (*named, *(card for card in deck(size) if card not in named))


def part(seat: int, status: str, purse: int, **amounts: int) -> PlayerResult:
    """One player's part of a result; what is not named is 0."""
    zeros = {"tricks": 0, "share": 0, "commission": 0, "fine_due": 0, "fine_paid": 0}
    return PlayerResult(seat=seat, status=status, purse=purse, **(zeros | amounts))


# --- commands


def open_table(settings: Settings = KHRAP) -> Make:
    return lambda _, at: c.OpenTable(at_ms=at, settings=settings, fresh=fresh(1))


def sit(player: str, buy_in: int = LIMIT, *, seat: int | None = None, auto_top_up: bool = False) -> Make:
    return lambda _, at: c.Sit(at_ms=at, player=player, buy_in=buy_in, seat=seat, auto_top_up=auto_top_up)


def top_up(player: str, amount: int) -> Make:
    return lambda _, at: c.TopUp(at_ms=at, player=player, amount=amount)


def auto_top_up(player: str) -> Make:
    return lambda _, at: c.AutoTopUp(at_ms=at, player=player)


def sit_out(player: str) -> Make:
    return lambda _, at: c.SitOut(at_ms=at, player=player)


def come_back(player: str) -> Make:
    return lambda _, at: c.Return(at_ms=at, player=player)


def leave(player: str) -> Make:
    return lambda _, at: c.Leave(at_ms=at, player=player)


def complete_leave(player: str) -> Make:
    return lambda _, at: c.CompleteLeave(at_ms=at, player=player)


def remove_idle(player: str) -> Make:
    return lambda _, at: c.RemoveIdle(at_ms=at, player=player)


def seed(player: str, client_seed: str, *, hand: str | None = None) -> Make:
    return lambda _, at: c.SetClientSeed(at_ms=at, player=player, client_seed=client_seed, hand_id=hand)


def start() -> Make:
    return lambda _, at: c.StartHand(at_ms=at)


def act(player: str, do: Do, named: str = "", *, turn: int | None = None) -> Make:
    """An action in answer to the open decision, or to `turn`; `named` are its cards."""
    action = Action(
        do=do,
        card=Card(named) if do == "play" else None,
        cards=cards(named) if do in ("discard", "draw") else None,
    )
    return lambda table, at: c.Act(
        at_ms=at,
        player=player,
        turn=table.turn if turn is None else turn,
        action=action,
        fresh=fresh(table.hand_no + 2),
    )


def clock_act(*, turn: int | None = None) -> Make:
    return lambda table, at: c.ClockAct(
        at_ms=at, turn=table.turn if turn is None else turn, fresh=fresh(table.hand_no + 2)
    )


def renew(*, turn: int | None = None) -> Make:
    return lambda table, at: c.RenewDeadlines(at_ms=at, turn=table.turn if turn is None else turn)


def void(ops: str, reason: str = "a broken deck") -> Make:
    return lambda table, at: c.Void(at_ms=at, ops=ops, reason=reason, fresh=fresh(table.hand_no + 2))


def commit_anew() -> Make:
    return lambda table, at: c.CommitAnew(at_ms=at, fresh=fresh(table.hand_no + 90))


def halt(reason: str = "a look at the books", *, fault: bool = False) -> Make:
    return lambda _, at: c.HaltTable(at_ms=at, reason=reason, fault=fault)


def resume(reason: str = "all is well", *, books_differ: bool = False) -> Make:
    return lambda _, at: c.ResumeTable(at_ms=at, reason=reason, books_differ=books_differ)


def close(reason: str = "the evening is over") -> Make:
    return lambda _, at: c.CloseTable(at_ms=at, reason=reason)


def complete_close() -> Make:
    return lambda _, at: c.CompleteClose(at_ms=at)


# --- given, when, then


class Given:
    """A table and the time."""

    def __init__(self, table: Table | None, now: int) -> None:
        self._table = table
        self.now = now

    @property
    def table(self) -> Table:
        """The table, which must have been opened."""
        assert self._table is not None
        return self._table

    @property
    def hand(self) -> Hand:
        """The last hand, which must have started."""
        assert self.table.hand is not None
        return self.table.hand

    def seat(self, player: str) -> Seat:
        """Where `player` sits, as he must."""
        found = seat_of(self.table, player)
        assert found is not None
        return found

    def asked(self) -> str:
        """The player whose decision is open."""
        seat_ = asked(self.hand)
        assert seat_ is not None
        return at(self.hand, seat_).player

    def having(self, *history: Event | After) -> Given:
        """After these events too."""
        table, now = self._table, self.now
        for entry in history:
            if isinstance(entry, After):
                now += entry
            else:
                table = evolve(table, entry, now)
        return Given(table, now)

    def when(self, make: Make, *, after: int = 0) -> Outcome:
        """A command, `after` milliseconds later."""
        now = self.now + after
        # OpenTable alone is made without a table, and looks at none.
        command = make(self._table, now)  # type: ignore[arg-type]
        return Outcome(self, now, decide(self._table, command))

    def done(self, *makes: Make, after: int = 0) -> Given:
        """After these commands, each accepted; the time passes before the first."""
        given_ = self
        for i, make in enumerate(makes):
            given_ = given_.when(make, after=0 if i else after).accepted()
        return given_

    def deal(self, deck_: tuple[Card, ...], *, dealer: int = 0) -> Given:
        """After a hand has started, when it could, with this dealer and these cards."""
        started = self.when(start(), after=PAUSE)
        swapped: list[Event] = []
        for event in started.events:
            match event:
                case HandStarted():
                    swapped.append(replace(event, dealer=dealer))
                case CardsDealt():
                    swapped.append(replace(event, deck=deck_))
                case TrumpTurned():
                    settings = self.table.settings
                    size = game_of(settings.options, settings.rules).hand_size
                    first = swapped[0]
                    assert isinstance(first, HandStarted)
                    swapped.append(replace(event, card=deck_[size * len(first.dealt_in)]))
                case _:
                    raise AssertionError(event)
        return Given(self._table, started.now).having(*swapped)

    def taken_by(self, declarer: str) -> Given:
        """After the running hand of khrap, taken without play: all others pass and decline."""
        given_ = self
        while (hand := running(given_.table)) is not None:
            player = given_.asked()
            word: Do = "khrap" if player == declarer else "pass"
            given_ = given_.done(act(player, "decline" if isinstance(hand.phase, Answering) else word))
        return given_


class Outcome:
    """What a command came to."""

    def __init__(self, before: Given, now: int, result: tuple[Event, ...] | Refused) -> None:
        self.before = before
        self.now = now
        self.result = result

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, of a command that was accepted."""
        assert not isinstance(self.result, Refused), self.result
        return self.result

    def accepted(self) -> Given:
        """The table after it, whatever the events."""
        return Given(self.before._table, self.now).having(*self.events)

    def then(self, *events: Event) -> Given:
        """Exactly these events, in this order."""
        assert self.result == events
        return self.accepted()

    def refused(self, code: Code, clause: str) -> Self:
        """Exactly this refusal; the detail is for the reader."""
        assert isinstance(self.result, Refused), self.result
        assert (self.result.code, self.result.clause) == (code, clause), self.result
        assert self.result.detail
        return self


def given(*history: Event | After) -> Given:
    """A table as these events made it."""
    return Given(None, T0).having(*history)
