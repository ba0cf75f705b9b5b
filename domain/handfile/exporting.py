"""A hand's events → its file, and a file → JSON. Source: rulebook H1, H4, H6."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from domain.actions import WORDS, Do
from domain.cards import Card
from domain.events import (
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    Declared,
    Event,
    HandSettled,
    HandStarted,
    HandVoided,
    Result,
)
from domain.evolve import evolve
from domain.evolve_hand import HANDLERS, evolve_hand
from domain.hand import Drawing, Hand, Owing
from domain.handfile.file import FORMAT, FileAction, FileSeat, FileShuffle, FileVoid, HandFile
from domain.options import GameName


def from_events(events: Iterable[Event]) -> HandFile:
    """H1: the whole file of a hand, from its events with their secrets: from `HandStarted` to `HandSettled` or
    `HandVoided`. Events of the table in between are passed over. ValueError where the hand has no end yet."""
    started: HandStarted | None = None
    hand: Hand | None = None
    deals: list[tuple[Card, ...]] = []
    actions: list[FileAction] = []
    gone: tuple[Card, ...] = ()
    for event in events:
        if isinstance(event, HandStarted):
            started, hand = event, evolve(None, event, 0).hand
        if started is None or hand is None or type(event) not in HANDLERS:
            continue
        match event:
            case CardsDealt():
                deals.append(event.deck)
            case HandSettled():
                return _file(started, deals, actions, event.result, None)
            case HandVoided():
                void = FileVoid(reason=event.reason) if event.cause == "ops" else None
                return _file(started, deals, actions, event.result, void)
            case CardsDiscarded() if isinstance(hand.phase, Drawing):
                gone = event.cards
            case _:
                action = _action(hand, event, gone)
                if action is not None:
                    actions.append(action)
                    gone = ()
        hand = evolve_hand(hand, event)
    raise ValueError("these events hold no ended hand")


def _action(hand: Hand, event: Event, drawing: tuple[Card, ...]) -> FileAction | None:
    """The action that `event` records, or None where it only follows from one. `drawing`: F7, what was discarded."""
    match event, hand.phase:
        case Declared(), _:
            return FileAction(seat=event.seat, do=_do(event.do), by=event.by)
        case CardsLooked(), _:
            return FileAction(seat=event.seat, do="look")
        case CardPlayed(), _:
            return FileAction(seat=event.seat, do="play", card=event.card, by=event.by)
        case CardsDiscarded(), Owing():
            return FileAction(seat=event.seat, do="discard", cards=event.cards, by=event.by)
        case CardsDrawn(), Drawing():
            return FileAction(seat=event.seat, do="draw", cards=drawing, by=event.by)
        case _:
            return None


def _file(
    started: HandStarted,
    deals: list[tuple[Card, ...]],
    actions: list[FileAction],
    result: Result,
    void: FileVoid | None,
) -> HandFile:
    table, settings = started.table, started.table.settings
    seats = [FileSeat(seat=s.seat, player=s.player, purse=s.purse) for s in table.seats if s.seat in started.dealt_in]
    shuffle = FileShuffle(
        server_seed=started.server_seed,
        hand_id=started.hand_id.replace("-", ""),  # hex, as H4 has it
        commitment=started.commitment,
        client_seeds=started.client_seeds,
    )
    return HandFile(
        game=cast(GameName, settings.game),
        currency=settings.currency,
        stake=settings.stake,
        commission_bps=settings.commission_bps,
        options=settings.options,
        rules=settings.rules,
        seats=tuple(seats),
        dealer=started.dealer,
        carried_bank=table.carried_bank,
        deals=tuple(deals),
        actions=tuple(actions),
        shuffle=shuffle if started.server_seed else None,
        void=void,
        result=result,
    )


def _do(word: str) -> Do:
    assert word in WORDS, word
    return cast(Do, word)


def to_json(file: HandFile) -> bytes:
    """The file as one line of JSON, every option written out."""
    options = {k: v for k, v in msgspec.to_builtins(file.options).items() if k != "game" and v is not None}
    whole: dict[str, Any] = {
        "format": FORMAT,
        "game": file.game,
        "currency": file.currency,
        "stake": file.stake,
        "commission_bps": file.commission_bps,
        "options": options,
        "rules": file.rules,
        "seats": file.seats,
        "dealer": file.dealer,
        "carried_bank": file.carried_bank,
        "shuffle": file.shuffle,
        "view": file.view,
        "deals": file.deals,
        "actions": file.actions,
        "void": file.void,
        "result": file.result,
        "refusal": file.refusal,
        "name": file.name or None,
    }
    return msgspec.json.encode({key: value for key, value in whole.items() if value is not None})
