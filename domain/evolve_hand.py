"""An event of a hand, applied. It cannot refuse: what is recorded happened. Source: rulebook K, F, C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from msgspec.structs import replace

from domain.cards import SUIT, Card
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    CommissionTaken,
    Declared,
    Event,
    FinePaid,
    FourAcesShown,
    HandSettled,
    HandVoided,
    SharePaid,
    TimeBankUsed,
    TrickTaken,
    TrumpTurned,
)
from domain.games import game_of
from domain.games.game import Game
from domain.hand import (
    PASSED,
    AcesHeld,
    Answering,
    Circle,
    Cutting,
    Declaring,
    Drawing,
    Exchanging,
    Finished,
    Hand,
    Over,
    Owing,
    Played,
    Player,
    Playing,
    TrickFull,
    Unclaimed,
    Unturned,
    at,
    clockwise,
)
from domain.money import amount


def with_player(hand: Hand, player: Player) -> tuple[Player, ...]:
    """The players with `player` in his seat."""
    return tuple([player if p.seat == player.seat else p for p in hand.players])


def _dealt(hand: Hand, event: CardsDealt) -> Hand:
    """K2, F2: one card at a time from the dealer's left; nothing of an earlier deal counts."""
    order = clockwise(hand, hand.dealer)
    size = game_of(hand.options, hand.rules).hand_size
    count = len(order)
    players = []
    for p in hand.players:
        first = order.index(p.seat)
        cards = event.deck[first : count * size : count]
        players.append(
            replace(p, dealt=cards, cards=cards, status="", said="", replaced=False, looked=False, clock_acted=False)
        )
    return replace(
        hand,
        players=tuple(players),
        deal_no=event.deal_no,
        circle=0,
        deck=event.deck,
        stock=count * size,
        trump_card=None,
        trump="",
        trump_taken=False,
        phase=Unturned(),
    )


def _turned(hand: Hand, event: TrumpTurned) -> Hand:
    """K2, K9: the earlier trump card, if any, goes to the discards."""
    return replace(
        hand,
        trump_card=event.card,
        trump=SUIT[event.card],
        stock=hand.stock + 1,
        circle=event.circle,
        phase=Declaring(clockwise(hand, hand.dealer)),
    )


def _looked(hand: Hand, event: CardsLooked) -> Hand:
    return replace(hand, players=with_player(hand, replace(at(hand, event.seat), looked=True)))


def _declared(hand: Hand, event: Declared) -> Hand:
    game = game_of(hand.options, hand.rules)
    before = at(hand, event.seat)
    player = replace(
        before,
        said=event.do,
        clock_acted=before.clock_acted or event.by == "clock",
        looked=before.looked or event.do in game.looks,
    )
    phase = hand.phase
    # By type: see `asked`.
    if type(phase) is Declaring:
        return _spoken_first(game, hand, player, phase)
    if type(phase) is Answering:
        return _answered(game, hand, player, phase)
    assert type(phase) is Cutting, _misplaced(hand, event)
    return _spoken_last(game, hand, player, phase)


def _spoken_first(game: Game, hand: Hand, player: Player, phase: Declaring) -> Hand:
    """K3, F3: a pass, or there is a declarer."""
    if player.said == "pass":
        queue = phase.queue[1:]
        after = Declaring(queue) if queue else Unclaimed()
        return replace(hand, players=with_player(hand, player), phase=after)
    return _claimed(game, hand, replace(player, status=player.said))


def _answered(game: Game, hand: Hand, player: Player, phase: Answering) -> Hand:
    """K7, F6: who declines is asked again in the draw circle."""
    if player.said != game.declines:
        player = replace(player, status=player.said)
    after = replace(hand, players=with_player(hand, player))
    return _exchange_or_onward(game, after, player, Answering(phase.queue[1:]))


def _spoken_last(game: Game, hand: Hand, player: Player, phase: Cutting) -> Hand:
    """K8, F8."""
    passes = player.said == "pass"
    player = replace(player, status=PASSED if passes else player.said)
    cutters = hand.cutters if passes else (*hand.cutters, player.seat)
    after = replace(hand, players=with_player(hand, player), cutters=cutters)
    return _exchange_or_onward(game, after, player, Cutting(phase.queue[1:]))


def _claimed(game: Game, hand: Hand, declarer: Player) -> Hand:
    """K4, K5: there is a declarer; all others are asked, or must help."""
    others = clockwise(hand, declarer.seat)[:-1]
    players = with_player(hand, declarer)
    if game.all_must_help(declarer.status):
        players = tuple([p if p.seat == declarer.seat else replace(p, status="help") for p in players])
        return _formed(game, replace(hand, players=players, declarer=declarer.seat))
    after = replace(hand, players=players, declarer=declarer.seat)
    return _exchange_or_onward(game, after, declarer, Answering(others))


def _exchange_or_onward(game: Game, hand: Hand, player: Player, then: Answering | Cutting) -> Hand:
    """The exchange that his word asks for, if it does, before the circle goes on."""
    exchange = game.exchanges.get(player.said)
    if exchange is None:
        return _onward(game, hand, then)
    return replace(hand, phase=Exchanging(player.seat, exchange, then, False))


def _onward(game: Game, hand: Hand, phase: Circle) -> Hand:
    """The circle as it stands, or what follows an empty one."""
    queue = phase.queue
    if type(phase) is Drawing and queue:
        blind = game.blind_exchange
        if blind is not None and queue[0] == hand.declarer and at(hand, queue[0]).status == "frap_blind":
            return replace(hand, phase=Exchanging(queue[0], blind, Drawing(queue[1:]), True))
    if queue:
        return replace(hand, phase=phase)
    match phase:
        case Answering():
            drawing = _in_play_from(hand, hand.declarer) if game.draw_after_answers else ()
            return _onward(game, hand, Drawing(drawing))
        case Drawing():
            return _onward(game, hand, Cutting(_undecided(hand)))
        case Cutting():
            return _formed(game, hand)
        case _:
            assert_never(phase)


def _undecided(hand: Hand) -> tuple[int, ...]:
    assert hand.declarer is not None
    return tuple(s for s in clockwise(hand, hand.declarer)[:-1] if at(hand, s).status == "")


def _formed(game: Game, hand: Hand) -> Hand:
    """K12, K13, K14, F6, F9: statuses are settled; who takes all without play, or who leads."""
    if game.four_aces_take_all:
        for p in hand.players:
            if p.in_play and not p.replaced and len({c for c in p.dealt if c[0] == "A"}) == game.hand_size:
                return replace(hand, phase=AcesHeld(p.seat))
    in_play = [p for p in hand.players if p.in_play]
    if len(in_play) == 1:
        player = replace(in_play[0], tricks=game.hand_size)
        return replace(hand, players=with_player(hand, player), phase=Finished("uncontested"))
    return replace(hand, phase=Playing((), _in_play_from(hand, hand.cutters[0] if hand.cutters else hand.declarer)))


def _in_play_from(hand: Hand, seat: int | None) -> tuple[int, ...]:
    """The seats in play, clockwise from that of one of them."""
    seats = [p.seat for p in hand.players if p.in_play]
    assert seat is not None
    first = seats.index(seat)
    return tuple(seats[first:] + seats[:first])


def _discarded(hand: Hand, event: CardsDiscarded) -> Hand:
    game = game_of(hand.options, hand.rules)
    before = at(hand, event.seat)
    gone = set(event.cards)
    player = replace(
        before,
        cards=tuple([c for c in before.cards if c not in gone]),
        replaced=True,
        looked=before.looked or (game.looking and not isinstance(hand.phase, Exchanging)),
    )
    after = replace(hand, players=with_player(hand, player))
    match hand.phase:
        case Exchanging(seat, exchange, then):
            return replace(after, phase=Exchanging(seat, exchange, then, True))
        case Owing(_, _, then):
            return _onward(game, after, then)
        case Drawing():
            return after
        case _:
            raise AssertionError(_misplaced(hand, event))


def _drawn(hand: Hand, event: CardsDrawn) -> Hand:
    """F7: who draws has looked already: he has said frap or whist, or khrap5 has no looking."""
    game = game_of(hand.options, hand.rules)
    before = at(hand, event.seat)
    trump: tuple[Card, ...] = () if event.trump_card is None else (event.trump_card,)
    player = replace(before, cards=before.cards + trump + event.cards)
    after = replace(
        hand,
        players=with_player(hand, player),
        stock=hand.stock + event.count,
        trump_taken=hand.trump_taken or bool(trump),
    )
    match hand.phase:
        case Exchanging(seat, exchange, then):
            return replace(after, phase=Owing(seat, exchange.owed, then))
        case Drawing(queue):
            return _onward(game, after, Drawing(queue[1:]))
        case _:
            raise AssertionError(_misplaced(hand, event))


def _bank_topped_up(hand: Hand, event: BankToppedUp) -> Hand:
    p = at(hand, event.seat)
    player = replace(p, purse=p.purse - event.amount, paid_in=p.paid_in + event.amount)
    return replace(hand, players=with_player(hand, player), bank=amount(hand.bank + event.amount))


def _time_bank_used(hand: Hand, event: TimeBankUsed) -> Hand:
    p = at(hand, event.seat)
    return replace(hand, players=with_player(hand, replace(p, time_bank_ms=p.time_bank_ms - event.ms)))


def _aces_shown(hand: Hand, event: FourAcesShown) -> Hand:
    player = replace(at(hand, event.seat), tricks=len(event.cards))
    return replace(hand, players=with_player(hand, player), phase=Finished("four_aces"))


def _played(hand: Hand, event: CardPlayed) -> Hand:
    phase = hand.phase
    assert isinstance(phase, Playing), _misplaced(hand, event)
    before = at(hand, event.seat)
    player = replace(before, cards=tuple([c for c in before.cards if c != event.card]))
    trick = (*phase.trick, Played(event.seat, event.card))
    rest = phase.queue[1:]
    return replace(hand, players=with_player(hand, player), phase=Playing(trick, rest) if rest else TrickFull(trick))


def _trick_taken(hand: Hand, event: TrickTaken) -> Hand:
    before = at(hand, event.seat)
    player = replace(before, tricks=before.tricks + 1)
    after = replace(hand, players=with_player(hand, player), tricks_played=event.trick)
    phase = Playing((), _in_play_from(after, event.seat)) if player.cards else Finished("played")
    return replace(after, phase=phase)


def _share_paid(hand: Hand, event: SharePaid) -> Hand:
    return _moved(hand, event.seat, event.amount, -event.amount)


def _commission_taken(hand: Hand, event: CommissionTaken) -> Hand:
    return _moved(hand, event.seat, -event.amount, 0)


def _fine_paid(hand: Hand, event: FinePaid) -> Hand:
    return _moved(hand, event.seat, -event.paid, event.paid)


def _moved(hand: Hand, seat: int, purse: int, bank: int) -> Hand:
    """The money moves with each event: purses and bank come to the same sum after every one but a commission."""
    p = at(hand, seat)
    return replace(hand, players=with_player(hand, replace(p, purse=p.purse + purse)), bank=hand.bank + bank)


def _settled(hand: Hand, event: HandSettled) -> Hand:
    return replace(hand, phase=Over(event.result))


def _voided(hand: Hand, event: HandVoided) -> Hand:
    """T12: what was paid in goes back."""
    back = {r.seat: r.amount for r in event.returned}
    players = tuple([replace(p, purse=p.purse + back.get(p.seat, 0)) for p in hand.players])
    return replace(hand, players=players, bank=hand.bank - sum(back.values()), phase=Over(event.result))


def _misplaced(hand: Hand, event: Event) -> tuple[str, str, str]:
    """What an assertion may say of an event that does not fit: names alone, since it may be logged, and no card."""
    return hand.hand_id, type(event).__name__, type(hand.phase).__name__


HANDLERS: dict[type[Event], Callable[[Hand, Any], Hand]] = {
    CardsDealt: _dealt,
    TrumpTurned: _turned,
    CardsLooked: _looked,
    Declared: _declared,
    CardsDiscarded: _discarded,
    CardsDrawn: _drawn,
    BankToppedUp: _bank_topped_up,
    TimeBankUsed: _time_bank_used,
    FourAcesShown: _aces_shown,
    CardPlayed: _played,
    TrickTaken: _trick_taken,
    SharePaid: _share_paid,
    CommissionTaken: _commission_taken,
    FinePaid: _fine_paid,
    HandSettled: _settled,
    HandVoided: _voided,
}
"""A table of handlers, since a `match` over so many types costs more; a test checks that it is complete."""


def evolve_hand(hand: Hand, event: Event) -> Hand:
    """The hand after `event`, which must be one of `HANDLERS`."""
    return HANDLERS[type(event)](hand, event)
