"""What is said and exchanged before play, applied: circles, draws, discards. Source: rulebook K3 to K14, F3 to F9."""

from __future__ import annotations

from msgspec.structs import replace

from domain.cards import Card
from domain.events import (
    CardsDiscarded,
    CardsDrawn,
    Declared,
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
    Owing,
    Playing,
    Unclaimed,
    at,
    clockwise,
    from_left,
    misplaced,
    with_player,
)


def declared(hand: Hand, event: Declared) -> Hand:
    """K3 to K8, F3 to F8: a word, by the circle in which it is said."""
    game = game_of(hand.options, hand.rules)
    phase, word = hand.phase, event.do
    before = at(hand, event.seat)
    # K7, F6: who passes or declines is asked again, but for the last circle, where his word is for good.
    undecided = word == "pass" or word == game.declines
    status = word if not undecided else PASSED if type(phase) is Cutting else ""
    player = replace(
        before,
        said=word,
        status=status,
        clock_acted=before.clock_acted or event.by == "clock",
        looked=before.looked or word in game.looks,
    )
    players = with_player(hand, player)
    # By type: see `asked`.
    if type(phase) is Declaring:
        if not undecided:
            return _claimed(game, replace(hand, players=players, declarer=event.seat), word)
        queue = phase.queue[1:]
        return replace(hand, players=players, phase=Declaring(queue) if queue else Unclaimed())
    if type(phase) is Answering:
        asked_next = Answering(phase.queue[1:])
        return _spoken(game, replace(hand, players=players, phase=asked_next), event.seat, word, asked_next)
    assert type(phase) is Cutting, misplaced(hand, event)
    cut_next = Cutting(phase.queue[1:])
    cutters = hand.cutters if undecided else (*hand.cutters, event.seat)
    return _spoken(game, replace(hand, players=players, cutters=cutters, phase=cut_next), event.seat, word, cut_next)


def _claimed(game: Game, hand: Hand, word: str) -> Hand:
    """K4, K5: there is a declarer; all others are asked, or must help."""
    declarer = hand.declarer
    assert declarer is not None
    if game.all_must_help(word):
        players = tuple([p if p.seat == declarer else replace(p, status="help") for p in hand.players])
        return _formed(game, replace(hand, players=players))
    others = Answering(clockwise(hand, declarer)[:-1])
    return _spoken(game, replace(hand, phase=others), declarer, word, others)


def _spoken(game: Game, hand: Hand, seat: int, word: str, then: Answering | Cutting) -> Hand:
    """The exchange that his word asks for, if it does, before the circle goes on; `hand` is in it already."""
    exchange = game.exchanges.get(word)
    if exchange is not None:
        return replace(hand, phase=Exchanging(seat, exchange, then, False))
    return hand if then.queue else _onward(game, hand, then)


def _onward(game: Game, hand: Hand, phase: Circle) -> Hand:
    """The circle as it stands, or what follows an empty one."""
    queue = phase.queue
    if type(phase) is Drawing and queue:
        blind = game.blind_exchange
        if blind is not None and queue[0] == hand.declarer and at(hand, queue[0]).status == "frap_blind":
            return replace(hand, phase=Exchanging(queue[0], blind, Drawing(queue[1:]), True))
    if queue:
        return replace(hand, phase=phase)
    if type(phase) is Answering:
        drawing = round_from(_in_play(hand), hand.declarer) if game.draw_after_answers else ()
        return _onward(game, hand, Drawing(drawing))
    if type(phase) is Drawing:
        undecided = tuple([p.seat for p in hand.players if not p.status])
        return _onward(game, hand, Cutting(from_left(undecided, hand.declarer)))
    return _formed(game, hand)


def _formed(game: Game, hand: Hand) -> Hand:
    """K12, K13, K14, F6, F9: statuses are settled; who takes all without play, or who leads."""
    if game.four_aces_take_all:
        for p in hand.players:
            if not p.replaced and p.in_play and [c[0] for c in p.dealt] == ["A"] * game.hand_size:
                return replace(hand, phase=AcesHeld(p.seat))
    in_play = _in_play(hand)
    if len(in_play) == 1:
        player = replace(at(hand, in_play[0]), tricks=game.hand_size)
        return replace(hand, players=with_player(hand, player), phase=Finished("uncontested"))
    leader = hand.cutters[0] if hand.cutters else hand.declarer
    return replace(hand, phase=Playing((), round_from(in_play, leader)))


def _in_play(hand: Hand) -> tuple[int, ...]:
    """The seats of declarer and helpers, ascending."""
    return tuple([p.seat for p in hand.players if p.status and p.status != PASSED])


def round_from(seats: tuple[int, ...], seat: int | None) -> tuple[int, ...]:
    """Seats in their order round the table, beginning with one of them."""
    assert seat is not None
    first = seats.index(seat)
    return seats[first:] + seats[:first]


def discarded(hand: Hand, event: CardsDiscarded) -> Hand:
    before, phase, gone = at(hand, event.seat), hand.phase, event.cards
    kept = tuple([c for c in before.cards if c not in gone])
    if type(phase) is Exchanging:
        players = with_player(hand, replace(before, cards=kept, replaced=True))
        return replace(hand, players=players, phase=replace(phase, gone=True))
    game = game_of(hand.options, hand.rules)
    player = replace(before, cards=kept, replaced=True, looked=before.looked or game.looking)
    after = replace(hand, players=with_player(hand, player))
    if type(phase) is Owing:
        return _onward(game, after, phase.then)
    assert type(phase) is Drawing, misplaced(hand, event)
    return after


def drawn(hand: Hand, event: CardsDrawn) -> Hand:
    """F7: who draws has looked already: he has said frap or whist, or khrap5 has no looking."""
    before = at(hand, event.seat)
    trump: tuple[Card, ...] = () if event.trump_card is None else (event.trump_card,)
    player = replace(before, cards=before.cards + trump + event.cards)
    after = replace(
        hand,
        players=with_player(hand, player),
        stock=hand.stock + event.count,
        trump_taken=hand.trump_taken or bool(trump),
    )
    phase = hand.phase
    if type(phase) is Exchanging:
        return replace(after, phase=Owing(phase.seat, phase.exchange.owed, phase.then))
    assert type(phase) is Drawing, misplaced(hand, event)
    return _onward(game_of(hand.options, hand.rules), after, Drawing(phase.queue[1:]))
