"""What goes into play and what comes out of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from domain.events import Event
from domain.legal import Offer
from domain.refusal import Refused
from domain.table import Table


class Caller(Struct, frozen=True):
    """Who asks: the token's subject and the role in which he does."""

    subject: str
    role: str


class Request(Struct, frozen=True):
    """A write: who asks, his Idempotency-Key, and the digest (HMAC, hex) of method, path and body."""

    caller: Caller
    key: str
    digest: str


class Step(Struct, frozen=True):
    """One recorded event of a table, when it was recorded, and the table after it."""

    seq: int
    at_ms: int
    event: Event
    after: Table


class Answer(Struct, frozen=True):
    """What a table's command did: the stream's number after it, the decision that is open, the events as the caller
    may see them (public halves, his own `cards` beside them), each with its `seq` and `at`."""

    version: int
    turn: int
    events: tuple[dict[str, Any], ...]


class AccountAnswer(Struct, frozen=True):
    """What an account's command did: the stream's number and the balance after it, in minor units."""

    version: int
    balance: int


class Refusal(Struct, frozen=True):
    """Why the rules refuse, and what the caller may do instead."""

    refused: Refused
    version: int
    turn: int | None = None
    legal_actions: tuple[Offer, ...] = ()


class KeyReused(Struct, frozen=True):
    """The Idempotency-Key stands for another request already."""

    key: str


class NotFound(Struct, frozen=True):
    """There is no such thing; `what` names it."""

    what: str


Outcome = Answer | Refusal | KeyReused | NotFound
AccountOutcome = AccountAnswer | Refusal | KeyReused | NotFound
