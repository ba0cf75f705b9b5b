"""What the service answers with, as JSON: amounts in minor units, `…_ms` since 1970 UTC, `at` in RFC 3339."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, defstruct

from domain.cards import Card
from domain.events import TABLE_EVENTS, Event
from domain.halves import PUBLIC
from domain.table import Table
from domain.views import TableView, view
from projections.hands import HandRow

HandFileJson = Annotated[
    dict[str, Any],
    Meta(description="a hand file, `khrap-hand/1` (rulebook H); with `view` it is redacted for that seat (H7)"),
]


class TableNow(TableView, frozen=True, kw_only=True):
    """A table as the caller may see it: `you` is his own part, null for who does not sit there.

    `version` is the number of the last event in it; follow on from there with `/events?after=<version>`.
    """

    table_id: str
    version: int


def table_now(table_id: str, version: int, table: Table, player: str | None) -> TableNow:
    """The whole view of `player`, or of a spectator where it is None."""
    return TableNow(table_id=table_id, version=version, **msgspec.structs.asdict(view(table, player)))


class Opened(Struct, frozen=True, kw_only=True):
    """T1: the new table."""

    table_id: str
    version: int
    turn: int
    events: tuple[dict[str, Any], ...]


class AccountView(Struct, frozen=True, kw_only=True):
    """T2: money off the tables; `version` is the number of the account's last event."""

    player: str
    currency: str
    balance: int
    version: int


class StatementLine(Struct, frozen=True, kw_only=True):
    """One entry of the books: `change` came from, or below zero went to, the ledger account `other`.

    `balance` is after it. `stream` and `seq` name the recorded event, `clause` the rule; `hand_id` is empty outside a
    hand.
    """

    at_ms: int
    change: int
    balance: int
    other: str
    clause: str
    hand_id: str
    stream: str
    seq: int


class StatementPage(Struct, frozen=True, kw_only=True):
    """A page of an account's statement, the oldest line first; `opening` is the balance before its first line.

    It is read from the books, which may be a moment behind the account itself.
    """

    player: str
    currency: str
    opening: int
    lines: tuple[StatementLine, ...]
    next: str | None


class HandPage(Struct, frozen=True, kw_only=True):
    """Hands that are over, the last to end first; `next` is the cursor of the page after these, or null."""

    hands: tuple[HandRow, ...]
    next: str | None


class HandNow(HandRow, frozen=True, kw_only=True):
    """A hand that is over, and its hand file (`khrap-hand/1`) as the caller may have it.

    R5: where `corrected` is set two reviewers have put it right: here it is as it was recorded, in the books as it
    should have been.
    """

    file: HandFileJson
    corrected: bool = False


class Session(Struct, frozen=True, kw_only=True):
    """Who the session cookie speaks for, and until when."""

    subject: str
    role: str
    expires_ms: int


class SessionNow(Struct, frozen=True, kw_only=True):
    """For whom the request speaks, and until when; all null where for nobody."""

    subject: str | None
    role: str | None
    expires_ms: int | None


class Health(Struct, frozen=True, kw_only=True):
    """Whether the service can do its work, and what is missing."""

    status: str
    missing: tuple[str, ...] = ()


class ProblemKind(Struct, frozen=True, kw_only=True):
    """What all problems of a type have in common."""

    type: str
    title: str
    status: int


def _recorded(event: type[Event]) -> type[Struct]:
    kind = str(event.__struct_config__.tag)
    types = {f.name: f.type for f in msgspec.structs.fields(event)}
    fields: list[Any] = [("seq", int), ("at", str)]
    fields += [(name, types[name]) for name in PUBLIC[kind]]
    if "cards" not in PUBLIC[kind]:
        fields.append(("cards", tuple[Card, ...] | None, None))
    shape = defstruct(f"{event.__name__}Recorded", fields, frozen=True, kw_only=True, tag=kind, tag_field="type")
    shape.__doc__ = event.__doc__
    return shape


RECORDED: tuple[type[Struct], ...] = tuple(_recorded(event) for event in TABLE_EVENTS)
"""The JSON shapes of recorded events as answers hold them: number, time, public half, own cards where it dealt some."""
