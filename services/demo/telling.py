"""A hand told card by card, for people: who said and played what, and what it came to in money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.cards import Card
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CommissionTaken,
    Declared,
    FinePaid,
    FourAcesShown,
    HandSettled,
    HandStarted,
    HandVoided,
    SharePaid,
    TrickTaken,
    TrumpTurned,
)
from domain.hand import Hand, at
from services.cli.output import amount
from services.play.service import Play
from services.play.types import Step

LOOK_BACK = 200
SYMBOLS = {"s": "♠", "h": "[red]♥[/red]", "d": "[red]♦[/red]", "c": "♣"}


def card(text: Card) -> str:
    """`Td` as 10♦, in rich's markup."""
    rank = "10" if text[0] == "T" else text[0]
    return f"{rank}{SYMBOLS[text[1]]}"


def cards(several: Sequence[Card]) -> str:
    """Cards beside each other."""
    return " ".join(card(each) for each in several)


def told(steps: Sequence[Step]) -> Iterator[str]:
    """The lines of the last hand in `steps`, from its start to its settling."""
    begin = max(i for i, step in enumerate(steps) if isinstance(step.event, HandStarted))
    played: list[str] = []
    for step in steps[begin:]:
        hand = step.after.hand
        if hand is None:
            continue
        match step.event:
            case CardPlayed(seat=seat, card=shown):
                played.append(f"{_name(hand, seat)} {card(shown)}")
            case TrickTaken(seat=seat, trick=trick):
                yield f"  trick {trick}   {', '.join(played)} → [bold]{_name(hand, seat)}[/bold]"
                played = []
            case _:
                yield from _line(step, hand)
        if isinstance(step.event, HandSettled | HandVoided):
            return


def _line(step: Step, hand: Hand) -> Iterator[str]:
    match step.event:
        case HandStarted(dealer=dealer, ante=ante, table=table):
            carried = f", {amount(table.carried_bank)} carried" if table.carried_bank else ""
            yield f"  dealer    {_name(hand, dealer)}; antes of {amount(ante)}{carried}; bank {amount(hand.bank)}"
        case CardsDealt():
            for player in hand.players:
                yield f"  dealt     {player.player}: {cards(player.cards)}"
        case TrumpTurned(card=turned):
            yield f"  trump     {card(turned)}"
        case Declared(seat=seat, do=word, by=by):
            yield f"  says      {_name(hand, seat)}: {word}{_clock(by)}"
        case CardsDiscarded(seat=seat, cards=gone, by=by):
            yield f"  discards  {_name(hand, seat)}: {cards(gone)}{_clock(by)}"
        case CardsDrawn(seat=seat, cards=drawn, trump_card=taken):
            trump = f" and the turned {card(taken)}" if taken is not None else ""
            yield f"  draws     {_name(hand, seat)}: {cards(drawn)}{trump}"
        case BankToppedUp(seat=seat, amount=added):
            yield f"  adds      {_name(hand, seat)}: {amount(added)}"
        case FourAcesShown(seat=seat):
            yield f"  shows     {_name(hand, seat)}: four aces"
        case SharePaid(seat=seat, tricks=tricks, amount=share):
            yield f"  share     {_name(hand, seat)}: {amount(share)} for {tricks} tricks"
        case CommissionTaken(seat=seat, amount=taken_by_house):
            yield f"  house     takes {amount(taken_by_house)} of {_name(hand, seat)}'s share"
        case FinePaid(seat=seat, due=due, paid=paid):
            yield f"  fine      {_name(hand, seat)}: {amount(due)} due, {amount(paid)} paid"
        case HandSettled(result=result):
            yield f"  ends      {result.ending.replace('_', ' ')}; {amount(result.carried_bank)} carried on"
        case HandVoided(reason=reason):
            yield f"  voided    {reason or 'nobody declared'}; antes and top-ups go back"
        case _:
            return


def _name(hand: Hand, seat: int) -> str:
    return at(hand, seat).player


def _clock(by: str) -> str:
    return " (the clock)" if by == "clock" else ""


async def last_hand(play: Play, table_id: str) -> tuple[str, tuple[str, ...]]:
    """The id and the lines of the last hand of a table, from the log. Raises Fault."""
    found = await play.table(table_id)
    assert found is not None, table_id
    version, table = found
    assert table.hand is not None, table_id
    after = version
    steps: list[Step] = []
    while not any(isinstance(step.event, HandStarted) for step in steps):
        after = max(0, after - LOOK_BACK)
        steps = await play.steps(table_id, after, version - after)
    return table.hand.hand_id, tuple(told(steps))
