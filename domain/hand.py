"""The state of one hand: players, cards, bank and the phase it is in. Source: rulebook K, F, C.

A phase says what is awaited. In the phases that ask someone (`Declaring` to `Playing`) the hand waits for a
player; in the others the rules themselves have the next word (`domain.consequences`).

What is frozen can hold no cycle, so none of this is the garbage collector's business (`gc=False`).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal, cast

from msgspec import Struct

from domain.cards import Card
from domain.events import Ending, Event, Result
from domain.options import Options

PASSED = "passed"


class Player(Struct, frozen=True, gc=False, kw_only=True):
    """A dealt-in player. `status` is empty until he has spoken for good, then a word of H2 or `passed`.

    `said` is his last word of this deal, `dealt` his cards as dealt, `paid_in` what he put into the bank,
    `clock_acted` whether the clock spoke for him since the deal: T12 asks for it where a deal has no declarer, and
    there only words are said.
    """

    seat: int
    player: str
    purse: int
    paid_in: int = 0
    dealt: tuple[Card, ...] = ()
    cards: tuple[Card, ...] = ()
    status: str = ""
    said: str = ""
    tricks: int = 0
    replaced: bool = False
    looked: bool = False
    clock_acted: bool = False
    time_bank_ms: int = 0

    @property
    def in_play(self) -> bool:
        """He is a declarer or a helper."""
        return self.status not in ("", PASSED)


class Exchange(Struct, frozen=True, gc=False):
    """What a word does to the cards of who says it: K6 to K8, F7, F8, C2.

    He keeps `keep`, the rest goes away unseen; he draws `stock` cards, the turned trump card too where
    `trump_card` is set, and then owes a discard of `owed`.
    """

    keep: Literal["none", "trumps", "all"]
    stock: int
    owed: int
    trump_card: bool = False


class Undealt(Struct, frozen=True, gc=False, tag=True):
    """The next deal is due."""


class Unturned(Struct, frozen=True, gc=False, tag=True):
    """The trump card is due."""


class Declaring(Struct, frozen=True, gc=False, tag=True):
    """K3, F3: the circle for a declarer; `queue` are the seats still to speak."""

    queue: tuple[int, ...]


class Unclaimed(Struct, frozen=True, gc=False, tag=True):
    """K9, K10, F4, F5: all have passed."""


class Answering(Struct, frozen=True, gc=False, tag=True):
    """K7, F6: the help circle, the whist circle."""

    queue: tuple[int, ...]


class Drawing(Struct, frozen=True, gc=False, tag=True):
    """F7, C3: the draw of declarer and whisters."""

    queue: tuple[int, ...]


class Cutting(Struct, frozen=True, gc=False, tag=True):
    """K8, F8: the draw circle, the cutting in."""

    queue: tuple[int, ...]


Circle = Answering | Drawing | Cutting
"""What follows a declaration; a hand goes on with one of these when cards were exchanged."""


class Exchanging(Struct, frozen=True, gc=False, tag=True):
    """Cards go and come as the word says; `gone` where the old ones have left the hand."""

    seat: int
    exchange: Exchange
    then: Circle
    gone: bool


class Owing(Struct, frozen=True, gc=False, tag=True):
    """K11: a discard of `count` is owed before the next player speaks."""

    seat: int
    count: int
    then: Circle


class AcesHeld(Struct, frozen=True, gc=False, tag=True):
    """K12: four aces are to be shown."""

    seat: int


class Played(Struct, frozen=True, gc=False):
    """One card of a trick."""

    seat: int
    card: Card


class Playing(Struct, frozen=True, gc=False, tag=True):
    """K14, K15: the trick so far and the seats still to play to it."""

    trick: tuple[Played, ...]
    queue: tuple[int, ...]


class TrickFull(Struct, frozen=True, gc=False, tag=True):
    """K16: the trick is to be taken."""

    trick: tuple[Played, ...]


class Finished(Struct, frozen=True, gc=False, tag=True):
    """All tricks have an owner; the money is to move."""

    ending: Ending


class Over(Struct, frozen=True, gc=False, tag=True):
    """Settled or voided."""

    result: Result


Phase = (
    Undealt
    | Unturned
    | Declaring
    | Unclaimed
    | Answering
    | Drawing
    | Cutting
    | Exchanging
    | Owing
    | AcesHeld
    | Playing
    | TrickFull
    | Finished
    | Over
)


class Hand(Struct, frozen=True, gc=False, kw_only=True):
    """One hand. `seats` are those of `players`, ascending; `stock` is the index in `deck` of the next card to leave it.

    `declarer` is a seat; `cutters` are the seats that took pyatok or shestok or cut in, in the order in which they
    did. `carried` is the bank as before the antes, `bank` the bank now (T6). `deal_no` and `circle` count from 1.
    """

    hand_id: str
    options: Options
    rules: int
    stake: int
    commission_bps: int
    seats: tuple[int, ...]
    players: tuple[Player, ...]
    dealer: int
    carried: int
    bank: int
    deal_no: int = 0
    circle: int = 0
    deck: tuple[Card, ...] = ()
    stock: int = 0
    trump_card: Card | None = None
    trump: str = ""
    trump_taken: bool = False
    declarer: int | None = None
    cutters: tuple[int, ...] = ()
    tricks_played: int = 0
    phase: Phase = Undealt()


def find(hand: Hand, seat: int) -> Player | None:
    """The dealt-in player at `seat`, or None."""
    return hand.players[hand.seats.index(seat)] if seat in hand.seats else None


def at(hand: Hand, seat: int) -> Player:
    """The dealt-in player at `seat`. ValueError where there is none."""
    return hand.players[hand.seats.index(seat)]


def stock_left(hand: Hand) -> int:
    """How many cards the stock holds."""
    return len(hand.deck) - hand.stock


def clockwise(hand: Hand, after: int) -> tuple[int, ...]:
    """H1: all dealt-in seats from `after`'s left round to `after` itself."""
    return from_left(hand.seats, after)


def from_left(seats: tuple[int, ...], of: int | None) -> tuple[int, ...]:
    """H1: ascending seats, clockwise from the left of seat `of`."""
    assert of is not None
    first = bisect_right(seats, of)
    return seats[first:] + seats[:first]


_QUEUED: frozenset[type] = frozenset({Declaring, Answering, Drawing, Cutting, Playing})

ASKING: frozenset[type] = _QUEUED | {Owing}
"""The phases that ask someone."""


def asked(hand: Hand) -> int | None:
    """The seat whose decision the hand awaits, or None."""
    # By type, not by `match`, which asks the metaclass about each class: 0.2 µs and not 1 to 2, several times an event.
    phase = hand.phase
    if type(phase) in _QUEUED:
        return cast(Declaring | Circle | Playing, phase).queue[0]
    return phase.seat if type(phase) is Owing else None


def card_led(hand: Hand) -> bool:
    """T12: whether a card has been led in this hand."""
    return hand.tricks_played > 0 or (isinstance(hand.phase, Playing) and bool(hand.phase.trick))


def with_player(hand: Hand, player: Player) -> tuple[Player, ...]:
    """The players with `player` in his seat."""
    players = list(hand.players)
    players[hand.seats.index(player.seat)] = player
    return tuple(players)


def misplaced(hand: Hand, event: Event) -> tuple[str, str, str]:
    """What an assertion may say of an event that does not fit: names alone, since it may be logged, and no card."""
    return hand.hand_id, type(event).__name__, type(hand.phase).__name__
