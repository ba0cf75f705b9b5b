"""What may be asked of a table and of an account. Time, chance and identity are fields of the command.

Amounts are minor units, times milliseconds since 1970 UTC, secrets lower-case hex.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from domain.actions import Action
from domain.events import CorrectionBasis, DealtIn, Result, Settings


class Fresh(Struct, frozen=True, kw_only=True):
    """S1: a new hand's id and seed, and the commitment to the key it will be sealed under."""

    hand_id: str
    server_seed: str
    key_commitment: str


class Command(Struct, frozen=True, kw_only=True):
    """What all commands share: `at_ms`, the moment that the events will bear."""

    at_ms: int


class OpenTable(Command, frozen=True, kw_only=True):
    """T1."""

    settings: Settings
    fresh: Fresh


class SetClientSeed(Command, frozen=True, kw_only=True):
    """S2: `client_seed` is 1 to 64 bytes in hex, for the hand `hand_id` where that is named."""

    player: str
    client_seed: str
    hand_id: str | None = None


class Sit(Command, frozen=True, kw_only=True):
    """T2: at `seat`, or at the lowest free one."""

    player: str
    buy_in: int
    seat: int | None = None
    auto_top_up: bool = False


class TopUp(Command, frozen=True, kw_only=True):
    """T3."""

    player: str
    amount: int


class SitOut(Command, frozen=True, kw_only=True):
    """T3."""

    player: str


class Return(Command, frozen=True, kw_only=True):
    """T3."""

    player: str


class Leave(Command, frozen=True, kw_only=True):
    """T3: at once, or after the running hand for one who is dealt in."""

    player: str


class Act(Command, frozen=True, kw_only=True):
    """An action of the running hand, in answer to decision `turn`."""

    player: str
    turn: int
    action: Action
    fresh: Fresh


class ClockAct(Command, frozen=True, kw_only=True):
    """T11: the clock acts on decision `turn`, whose time is over."""

    turn: int
    fresh: Fresh


class RenewDeadlines(Command, frozen=True, kw_only=True):
    """T11: the clock was away; decision `turn` gets its full time anew."""

    turn: int


class StartHand(Command, frozen=True, kw_only=True):
    """T4: the hand that was committed to starts; its pause is over."""


class CompleteLeave(Command, frozen=True, kw_only=True):
    """T3: the hand is over, who asked to leave goes."""

    player: str


class RemoveIdle(Command, frozen=True, kw_only=True):
    """T3: who has been sitting out or short for too long is made to leave."""

    player: str


class AutoTopUp(Command, frozen=True, kw_only=True):
    """T3: up to the buy-in, between hands, for one who chose it."""

    player: str


class HaltTable(Command, frozen=True, kw_only=True):
    """No hand starts and no purse leaves. `fault`: an alarm of the books."""

    reason: str
    fault: bool = False


class ResumeTable(Command, frozen=True, kw_only=True):
    """The table goes on. `books_differ`: the ledger reckons otherwise than is recorded, to this day."""

    reason: str
    books_differ: bool = False


class CorrectHand(Command, frozen=True, kw_only=True):
    """R5: two reviewers put a settled hand right: `right` counts in place of `recorded`. `players` were dealt in.

    `resumes`: whether no other hand of the table awaits its correction. `corrected`: the hands of this table that were
    put right already; none is a second time.
    """

    hand_id: str
    dispute_id: str
    reviewers: tuple[str, str]
    basis: CorrectionBasis
    players: tuple[DealtIn, ...]
    recorded: Result
    right: Result
    resumes: bool
    corrected: tuple[str, ...] = ()


class CloseTable(Command, frozen=True, kw_only=True):
    """T13: closes after the running hand."""

    reason: str


class CompleteClose(Command, frozen=True, kw_only=True):
    """T13: no hand runs; all purses and the carried bank go back."""


class Void(Command, frozen=True, kw_only=True):
    """T12: `ops` proposes to void the running hand or, where another has, confirms it."""

    ops: str
    reason: str
    fresh: Fresh


class CommitAnew(Command, frozen=True, kw_only=True):
    """S2: another commitment for the next hand, where the one that stands may be known (a restored log has lost what
    came of it) or is lost itself (S7). What players gave to the old one is gone with it.
    """

    fresh: Fresh


TableCommand = (
    OpenTable
    | SetClientSeed
    | Sit
    | TopUp
    | SitOut
    | Return
    | Leave
    | Act
    | ClockAct
    | RenewDeadlines
    | StartHand
    | CompleteLeave
    | RemoveIdle
    | AutoTopUp
    | HaltTable
    | ResumeTable
    | CorrectHand
    | CloseTable
    | CompleteClose
    | Void
    | CommitAnew
)


class OpenAccount(Command, frozen=True, kw_only=True):
    """T2."""

    player: str
    currency: str


class Deposit(Command, frozen=True, kw_only=True):
    """Money from outside."""

    amount: int
    reference: str = ""


class Withdraw(Command, frozen=True, kw_only=True):
    """Money to the outside."""

    amount: int
    reference: str = ""


class MoveIn(Command, frozen=True, kw_only=True):
    """T2, T3: to a purse at a table."""

    table_id: str
    amount: int


class MoveOut(Command, frozen=True, kw_only=True):
    """T3, T13: a purse, or a part of a carried bank, back."""

    table_id: str
    amount: int
    kind: Literal["purse", "bank"]


class Compensate(Command, frozen=True, kw_only=True):
    """R4: from the house to a player, by two reviewers."""

    dispute_id: str
    amount: int


AccountCommand = OpenAccount | Deposit | Withdraw | MoveIn | MoveOut | Compensate
