"""The state of a table: its seats, its money, and the hand that runs at it. Source: rulebook T, S2."""

from __future__ import annotations

from msgspec import Struct

from domain.events import DealtIn, Departure, Halt, Seat, Settings, TableRecord
from domain.hand import Hand, Over, asked, find
from domain.legal import forced
from domain.refusal import Refused

FORCED_MS = 1_000
"""T11: the time for a decision that leaves one choice."""
COMING_BACK_MS = 30 * 60 * 1_000
"""T2: how long what a player took away binds him."""
IDLE_MS = 10 * 60 * 1_000
IDLE_HANDS = 20
"""T3: who has been sitting out or short for so long is made to leave."""
STATE_EVERY = 100
"""After so many events of the table itself the state is written, between hands."""
ACTS_WINDOW_MS = 60_000
ACTS_LIMIT = 20
"""How many acts between hands a player has in a minute; an opening state begins the count anew."""


class NextHand(Struct, frozen=True, gc=False, kw_only=True):
    """S2: what is committed to for the next hand; `client_seeds` are (player, hex). S7: a lost seed is empty."""

    hand_id: str
    commitment: str
    server_seed: str
    client_seeds: tuple[tuple[str, str], ...] = ()


class Acts(Struct, frozen=True, gc=False, kw_only=True):
    """How many acts between hands `player` has done since `since_ms`."""

    player: str
    count: int
    since_ms: int


class Proposal(Struct, frozen=True, gc=False, kw_only=True):
    """T12: what one of ops has proposed."""

    hand_id: str
    proposer: str
    reason: str


class ShuffleInputs(Struct, frozen=True, gc=False, kw_only=True):
    """S3: what the decks of the running hand are made of, in hex; seeds in seat order of the dealt in. S7: a lost
    server seed is empty."""

    server_seed: str
    client_seeds: tuple[str, ...]


class Table(Struct, frozen=True, gc=False, kw_only=True):
    """A table. Seats are ascending; `hand` stays, over, until the next one starts.

    `turn` numbers the decisions; `opened_at_ms` is when the open one was opened, `deal_turn` the first of the
    running deal. `ready_at_ms` is since when a hand could start, None where none can. `at_ms` is the last event's
    time, `since_state` how many events lie behind the last full state, those of the hand itself not counted: a long
    hand writes no state at its end, where the next one is about to, and where all want to see its result.
    """

    settings: Settings
    seats: tuple[Seat, ...] = ()
    carried_bank: int = 0
    bank_no: int = 0
    hand_no: int = 0
    dealer: int | None = None
    last_dealt_in: tuple[DealtIn, ...] = ()
    departures: tuple[Departure, ...] = ()
    acts: tuple[Acts, ...] = ()
    turn: int = 0
    deal_turn: int = 0
    opened_at_ms: int = 0
    ready_at_ms: int | None = None
    halt: Halt | None = None
    proposal: Proposal | None = None
    closing: bool = False
    closed: bool = False
    next_hand: NextHand | None = None
    hand: Hand | None = None
    shuffle: ShuffleInputs | None = None
    at_ms: int = 0
    since_state: int = 0


def running(table: Table) -> Hand | None:
    """The hand that runs, or None between hands."""
    hand = table.hand
    return None if hand is None or type(hand.phase) is Over else hand


def seed_lost(table: Table) -> bool:
    """S7: whether the key is lost that the seed of the running or of the next hand was sealed under."""
    held = table.next_hand if table.shuffle is None else table.shuffle
    return held is not None and not held.server_seed


def seat_of(table: Table, player: str) -> Seat | None:
    """Where `player` sits, or None."""
    for seat in table.seats:
        if seat.player == player:
            return seat
    return None


def seated(table: Table, player: str) -> Seat | Refused:
    """Where `player` sits, or the refusal of who does not."""
    return seat_of(table, player) or Refused("not_seated", "T3", f"{player} does not sit at this table")


def seat_at(table: Table, seat: int) -> Seat | None:
    """Who sits at `seat`, or None."""
    for sitting in table.seats:
        if sitting.seat == seat:
            return sitting
    return None


def in_hand(table: Table, seat: int) -> bool:
    """Whether the seat is dealt into the running hand."""
    hand = running(table)
    return hand is not None and find(hand, seat) is not None


def short(table: Table, seat: Seat) -> bool:
    """T4: his purse holds less than the stake."""
    return seat.purse < table.settings.stake


def idle(table: Table, seat: Seat) -> bool:
    """T3: he sits out or is short."""
    return seat.sitting_out or short(table, seat)


def ready(table: Table) -> tuple[Seat, ...]:
    """T4: the seats that would be dealt in now, in seat order."""
    return tuple(s for s in table.seats if not s.leaving and not idle(table, s))


def may_start(table: Table) -> bool:
    """T4: whether a hand can start, the pause aside."""
    free = not (table.halt or table.closing or table.closed) and running(table) is None
    return free and len(ready(table)) >= 2


def start_due_ms(table: Table) -> int | None:
    """When the next hand starts, or None where none can."""
    return None if table.ready_at_ms is None else table.ready_at_ms + table.settings.pause_ms


class Deadline(Struct, frozen=True, gc=False, kw_only=True):
    """T11: whose decision is open, until when his turn lasts, and when, his time bank spent, the clock acts."""

    seat: int
    turn_ends_ms: int
    clock_acts_ms: int


def deadline(table: Table) -> Deadline | None:
    """T11: the open decision's deadline, from recorded times alone; None where no one is asked."""
    hand = running(table)
    seat = None if hand is None else asked(hand)
    if hand is None or seat is None:
        return None
    opened = table.opened_at_ms
    sitting = seat_at(table, seat)
    if sitting is None or sitting.leaving:
        return Deadline(seat=seat, turn_ends_ms=opened, clock_acts_ms=opened)
    if forced(hand):
        return Deadline(seat=seat, turn_ends_ms=opened + FORCED_MS, clock_acts_ms=opened + FORCED_MS)
    player = find(hand, seat)
    assert player is not None
    ends = opened + table.settings.turn_ms
    return Deadline(seat=seat, turn_ends_ms=ends, clock_acts_ms=ends + player.time_bank_ms)


def money(table: Table) -> int:
    """All that lies at the table, in minor units: purses and bank."""
    hand = running(table)
    if hand is None:
        return table.carried_bank + sum(s.purse for s in table.seats)
    out = sum(s.purse for s in table.seats if find(hand, s.seat) is None)
    return hand.bank + sum(p.purse for p in hand.players) + out


def least_buy_in(table: Table, player: str, at_ms: int) -> int:
    """T2: the least that `player` must bring: the entry limit, or what he took away not long ago."""
    least = table.settings.entry_limit
    for gone in table.departures:
        if gone.player == player and binding(table, gone, at_ms):
            least = max(least, gone.purse)
    return least


def binding(table: Table, gone: Departure, at_ms: int) -> bool:
    """T2: whether a departure still binds: for 30 minutes, or while the bank carried then is still carried."""
    same_bank = table.carried_bank > 0 and table.bank_no == gone.bank_no
    return at_ms - gone.at_ms < COMING_BACK_MS or same_bank


def record(table: Table) -> TableRecord:
    """The table as it is written into an opening state."""
    return TableRecord(
        settings=table.settings,
        seats=table.seats,
        carried_bank=table.carried_bank,
        bank_no=table.bank_no,
        hand_no=table.hand_no,
        dealer=table.dealer,
        last_dealt_in=table.last_dealt_in,
        departures=table.departures,
        turn=table.turn,
        ready_at_ms=table.ready_at_ms,
        halt=table.halt,
        closing=table.closing,
    )
