"""The reports as tables: columns and rows, the same for the API, CSV and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from infra.clock import rfc3339
from projections.ledger.reads import Line
from projections.reports import CappedFine, CarriedBank, Commission, VoidedHand
from projections.signals import Signal

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def day_of(day: int) -> str:
    """A day counted from 1970-01-01 UTC, as a date."""
    return (EPOCH + timedelta(days=day)).date().isoformat()


class Shape(Struct, frozen=True):
    """How a report's rows become cells: `amounts` names the columns of minor units."""

    columns: tuple[str, ...]
    amounts: tuple[str, ...]
    cells: Callable[[Any], Sequence[object]]


def _commission(row: Commission) -> Sequence[object]:
    return (day_of(row.day), row.table_id, row.currency, row.hands, row.amount)


def _bank(row: CarriedBank) -> Sequence[object]:
    return (row.table_id, row.currency, row.amount)


def _fine(row: CappedFine) -> Sequence[object]:
    ended = rfc3339(row.ended_ms)
    return (
        ended,
        row.hand_id,
        row.table_id,
        row.currency,
        row.player,
        row.status,
        row.due,
        row.paid,
        row.due - row.paid,
    )


def _void(row: VoidedHand) -> Sequence[object]:
    ended = rfc3339(row.ended_ms)
    return (ended, row.hand_id, row.table_id, row.currency, row.game, row.cause, row.reason, row.players)


def _line(row: Line) -> Sequence[object]:
    at = rfc3339(row.at_ms)
    return (at, row.other, row.clause, row.hand_id, row.change, row.balance, row.stream, row.seq)


def _signal(row: Signal) -> Sequence[object]:
    return (
        row.kind,
        row.player,
        row.other,
        row.currency,
        row.times,
        row.chances,
        row.hands,
        row.amount,
        row.won,
        row.time_bank_ms,
        row.by_ops,
        " ".join(hand.hand_id for hand in row.rests_on),
    )


COMMISSION = Shape(("day", "table", "currency", "hands", "amount"), ("amount",), _commission)
BANKS = Shape(("table", "currency", "amount"), ("amount",), _bank)
FINES = Shape(
    ("ended", "hand", "table", "currency", "player", "status", "due", "paid", "uncovered"),
    ("due", "paid", "uncovered"),
    _fine,
)
VOIDS = Shape(("ended", "hand", "table", "currency", "game", "cause", "reason", "players"), (), _void)
STATEMENT = Shape(
    ("at", "other", "clause", "hand", "change", "balance", "stream", "event"), ("change", "balance"), _line
)
SIGNALS = Shape(
    (
        "kind",
        "player",
        "other",
        "currency",
        "times",
        "chances",
        "hands",
        "amount",
        "won",
        "time_bank_ms",
        "by_ops",
        "rests_on",
    ),
    ("amount", "won"),
    _signal,
)
