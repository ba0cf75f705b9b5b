"""What a seat or a spectator may see of a table, built field by field (of its events: `halves`). Source: K2, F2, S6.

An audience is a player's name or None for a spectator. Nothing is removed from a whole: what is not written here
is not shown. Shapes are JSON objects; amounts minor units, times milliseconds since 1970 UTC.
"""

from __future__ import annotations

from msgspec import Struct

from domain.cards import Card
from domain.events import Result, Settings
from domain.games import game_of
from domain.hand import Hand, Over, Played, Player, Playing, TrickFull, asked, find, stock_left
from domain.legal import Offer, offers
from domain.table import Table, deadline, running, seat_of, start_due_ms


class SeatView(Struct, frozen=True, kw_only=True):
    """A seat as all see it; `purse` is the one of this moment."""

    seat: int
    player: str
    purse: int
    sitting_out: bool
    leaving: bool
    in_hand: bool


class PlayerView(Struct, frozen=True, kw_only=True):
    """A dealt-in player as all see him: `cards` is how many he holds, `said` his last word of this deal."""

    seat: int
    player: str
    purse: int
    status: str
    said: str
    cards: int
    tricks: int
    looked: bool


class HandView(Struct, frozen=True, kw_only=True):
    """A hand as all see it. `phase` is what is awaited; `result` is there once it is over."""

    hand_id: str
    dealer: int
    deal_no: int
    circle: int
    bank: int
    trump_card: Card | None
    trump_taken: bool
    stock: int
    declarer: int | None
    phase: str
    players: tuple[PlayerView, ...]
    trick: tuple[Played, ...]
    result: Result | None


class TurnView(Struct, frozen=True, kw_only=True):
    """T11: the open decision: its number, whose it is, when the turn ends and when the clock acts."""

    turn: int
    seat: int
    turn_ends_ms: int
    clock_acts_ms: int


class OwnView(Struct, frozen=True, kw_only=True):
    """What only the player himself sees. `cards` is None where they lie face down (F2) or none were dealt."""

    seat: int
    player: str
    cards: tuple[Card, ...] | None
    time_bank_ms: int
    legal_actions: tuple[Offer, ...]


class NextHandView(Struct, frozen=True, kw_only=True):
    """S2: the hand to come: its id, the commitment, who has given a seed, when it starts."""

    hand_id: str
    commitment: str
    seeds_from: tuple[str, ...]
    starts_ms: int | None


class TableView(Struct, frozen=True, kw_only=True):
    """A table as an audience may see it."""

    settings: Settings
    seats: tuple[SeatView, ...]
    carried_bank: int
    hand_no: int
    halted: str | None
    closing: bool
    closed: bool
    turn: TurnView | None
    hand: HandView | None
    next_hand: NextHandView | None
    you: OwnView | None


def view(table: Table, player: str | None) -> TableView:
    """The table as `player` sees it, or a spectator where it is None."""
    return TableView(
        settings=table.settings,
        seats=_seats(table),
        carried_bank=table.carried_bank,
        hand_no=table.hand_no,
        halted=None if table.halt is None else table.halt.reason,
        closing=table.closing,
        closed=table.closed,
        turn=turn_view(table),
        hand=None if table.hand is None else _hand(table.hand),
        next_hand=_next_hand(table),
        you=None if player is None else own_view(table, player),
    )


def _seats(table: Table) -> tuple[SeatView, ...]:
    hand = running(table)
    seats = []
    for s in table.seats:
        playing = None if hand is None else find(hand, s.seat)
        seats.append(
            SeatView(
                seat=s.seat,
                player=s.player,
                purse=s.purse if playing is None else playing.purse,
                sitting_out=s.sitting_out,
                leaving=s.leaving,
                in_hand=playing is not None,
            )
        )
    return tuple(seats)


def _hand(hand: Hand) -> HandView:
    phase = hand.phase
    return HandView(
        hand_id=hand.hand_id,
        dealer=hand.dealer,
        deal_no=hand.deal_no,
        circle=hand.circle,
        bank=hand.bank,
        trump_card=hand.trump_card,
        trump_taken=hand.trump_taken,
        stock=stock_left(hand),
        declarer=hand.declarer,
        phase=type(phase).__name__.lower(),
        players=tuple(
            PlayerView(
                seat=p.seat,
                player=p.player,
                purse=p.purse,
                status=p.status,
                said=p.said,
                cards=len(p.cards),
                tricks=p.tricks,
                looked=p.looked or not game_of(hand.options, hand.rules).looking,
            )
            for p in hand.players
        ),
        trick=phase.trick if isinstance(phase, Playing | TrickFull) else (),
        result=phase.result if isinstance(phase, Over) else None,
    )


def turn_view(table: Table) -> TurnView | None:
    """The open decision, or None."""
    due = deadline(table)
    if due is None:
        return None
    return TurnView(turn=table.turn, seat=due.seat, turn_ends_ms=due.turn_ends_ms, clock_acts_ms=due.clock_acts_ms)


def _next_hand(table: Table) -> NextHandView | None:
    coming = table.next_hand
    if coming is None:
        return None
    return NextHandView(
        hand_id=coming.hand_id,
        commitment=coming.commitment,
        seeds_from=tuple(player for player, _ in coming.client_seeds if seat_of(table, player) is not None),
        starts_ms=start_due_ms(table),
    )


def own_view(table: Table, player: str) -> OwnView | None:
    """What only `player` sees; None where he does not sit here."""
    seat = seat_of(table, player)
    if seat is None:
        return None
    mine = dealt_in(table, player)
    return OwnView(
        seat=seat.seat,
        player=player,
        cards=own_cards(table, player),
        time_bank_ms=0 if mine is None else mine.time_bank_ms,
        legal_actions=legal_actions(table, player),
    )


def dealt_in(table: Table, player: str) -> Player | None:
    """The dealt-in player of that name: by name, never by seat alone, since a seat may have changed hands."""
    if table.hand is None:
        return None
    return next((p for p in table.hand.players if p.player == player), None)


def own_cards(table: Table, player: str) -> tuple[Card, ...] | None:
    """The cards that `player` holds and may see."""
    mine = dealt_in(table, player)
    if mine is None or table.hand is None:
        return None
    return mine.cards if _open(table.hand, mine) else None


def _open(hand: Hand, mine: Player) -> bool:
    return mine.looked or not game_of(hand.options, hand.rules).looking


def legal_actions(table: Table, player: str) -> tuple[Offer, ...]:
    """What `player` may do in the hand now. F2: until he looks, a discard is offered him by the count alone."""
    hand, mine = running(table), dealt_in(table, player)
    if hand is None or mine is None:
        return ()
    offered = offers(hand, mine.seat)
    if _open(hand, mine):
        return offered
    return tuple(Offer(o.do, (), o.least, o.most) for o in offered)


def awaited(table: Table) -> int | None:
    """The seat that is asked now, or None."""
    hand = running(table)
    return None if hand is None else asked(hand)
