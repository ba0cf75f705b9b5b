"""What a request's body may hold. Every field is named here; any other is refused, and so is a number as text."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from domain.actions import Action, Do
from domain.cards import Card
from domain.events import Disclosure, Settings
from domain.games import newest
from domain.money import BPS, TABLE_LIMIT
from domain.options import FrapOptions, Khrap5Options, KhrapOptions
from services.api.forms import CODE, LINE, Amount, CardText, ClientSeed, Currency, HandId, PlayerId, Seat, Text, Turn

ENTRY_STAKES = 20
"""T1: the entry limit in stakes where none is named."""

Milliseconds = Annotated[int, Meta(ge=0, le=600_000)]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all bodies share: unknown fields are refused."""


class Nothing(Body, frozen=True, kw_only=True):
    """An empty object; the body may be left out."""


class OpenTableBody(Body, frozen=True, kw_only=True):
    """T1: a new table. What is left out has the rulebook's default, commission by the game (T10)."""

    currency: Currency
    stake: Annotated[int, Meta(ge=0, le=TABLE_LIMIT // ENTRY_STAKES, examples=[2_000])]
    options: KhrapOptions | FrapOptions | Khrap5Options
    max_seats: Annotated[int, Meta(ge=2, le=12)] | None = None
    entry_limit: Annotated[int, Meta(ge=0, le=TABLE_LIMIT)] | None = None
    commission_bps: Annotated[int, Meta(ge=0, le=BPS)] | None = None
    turn_ms: Annotated[int, Meta(ge=100, le=3_600_000)] = 15_000
    time_bank_ms: Annotated[int, Meta(ge=0, le=3_600_000)] = 20_000
    pause_ms: Milliseconds = 3_000
    seed_disclosure: Disclosure = "after_hand"
    spectators: bool = True
    spectator_delay_ms: Milliseconds = 0

    def __post_init__(self) -> None:
        """T1: what no field can say alone."""
        game = newest(str(type(self.options).__struct_config__.tag))
        if self.max_seats is not None and self.max_seats > game.max_seats:
            raise ValueError(f"`max_seats` of {game.name} is at most {game.max_seats}")
        if self.entry_limit is not None and self.entry_limit < self.stake:
            raise ValueError("`entry_limit` is at least `stake`")

    def settings(self) -> Settings:
        """The table's settings, whole."""
        game = newest(str(type(self.options).__struct_config__.tag))
        return Settings(
            currency=self.currency,
            stake=self.stake,
            entry_limit=self.stake * ENTRY_STAKES if self.entry_limit is None else self.entry_limit,
            max_seats=game.max_seats if self.max_seats is None else self.max_seats,
            commission_bps=game.default_commission_bps if self.commission_bps is None else self.commission_bps,
            options=self.options,
            rules=game.rules,
            turn_ms=self.turn_ms,
            time_bank_ms=self.time_bank_ms,
            pause_ms=self.pause_ms,
            seed_disclosure=self.seed_disclosure,
            spectators=self.spectators,
            spectator_delay_ms=self.spectator_delay_ms,
        )


class SitBody(Body, frozen=True, kw_only=True):
    """T2: `buy_in` goes from the account to the purse; without `seat` the lowest free one is taken."""

    buy_in: Amount
    seat: Seat | None = None
    auto_top_up: bool = False


class TopUpBody(Body, frozen=True, kw_only=True):
    """T3: from the account to the purse, between hands."""

    amount: Amount


class ClientSeedBody(Body, frozen=True, kw_only=True):
    """S2: the caller's seed for the next hand; with `hand_id` for that hand or none."""

    client_seed: ClientSeed
    hand_id: HandId | None = None


class ActionBody(Body, frozen=True, kw_only=True):
    """H2: an answer to decision `turn`: a word alone, `discard` or `draw` with `cards`, `play` with `card`."""

    turn: Turn
    do: Do
    cards: Annotated[tuple[CardText, ...], Meta(max_length=52)] | None = None
    card: CardText | None = None

    def __post_init__(self) -> None:
        """H2: which words go with cards."""
        self.action()

    def action(self) -> Action:
        """What is done, without the decision that it answers. ValueError names a field too much or missing."""
        return Action(
            do=self.do,
            cards=None if self.cards is None else tuple(Card(c) for c in self.cards),
            card=None if self.card is None else Card(self.card),
        )


class ReasonBody(Body, frozen=True, kw_only=True):
    """Why; the players see it."""

    reason: Text


class OpenAccountBody(Body, frozen=True, kw_only=True):
    """T2: an account of a player's in a currency."""

    player: PlayerId
    currency: Currency


class MoneyBody(Body, frozen=True, kw_only=True):
    """Money from or to the outside; `reference` is the cashier's own note."""

    amount: Amount
    reference: Annotated[str, Meta(max_length=100, pattern=LINE)] = ""


class SessionBody(Body, frozen=True, kw_only=True):
    """A one-time code, as the page found it in its address."""

    code: Annotated[str, Meta(min_length=1, max_length=2_048, pattern=CODE)]
