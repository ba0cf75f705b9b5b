"""Disputes from the command line: as the user of this machine. Source: rulebook R."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain.disputes.commands import DisputeCommand, Reviewer
from domain.disputes.dispute import Dispute, dealt_in
from domain.refusal import Refused
from infra.dispute_keys import DisputeKeys
from infra.faults import Fault
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from projections.access import Look, looks
from projections.disputes import DisputeRow, disputes
from projections.hands import hand as hand_row
from projections.ledger.reads import balances, statement
from projections.paging import Page
from projections.reports import capped_fines, carried_banks, commission, voided_hands
from projections.signals import KINDS, Signal, signals
from services.api.access import barred, unseated
from services.api.forms import UUID7, Writing
from services.books import open_books
from services.cli.looking import CONSOLE, login, person
from services.disputes.service import Disputes, Seal
from services.disputes.types import CorrectionPreview, DisputeAnswer, DisputeRead
from services.play.types import Caller, KeyReused, NotFound, Refusal, Request

ACCOUNT_FORMS = "player:anna, purse:TABLE:anna, bank:TABLE, house:commission, house:compensation or cash"
PAGE = 200
ROWS = 5_000
Make = Callable[[int, Reviewer, Seal], DisputeCommand]


class Room(Struct, frozen=True):
    """The disputes, and a reader of projections that are as far as the log was."""

    disputes: Disputes
    reader: ProjectionReader


@asynccontextmanager
async def open_room(settings: Settings) -> AsyncIterator[Room]:
    """For as long as the block runs. Raises Fault."""
    async with open_books(settings) as books:
        core = books.core
        keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
        try:
            yield Room(Disputes(core.store, core.codec, core.play, books.reader, keys, core.clock), books.reader)
        finally:
            await keys.close()


def written(text: str) -> str:
    """What was given as a text; `-` is standard input."""
    try:
        return msgspec.convert(sys.stdin.read().strip() if text == "-" else text, Writing)
    except msgspec.ValidationError:
        detail = "--text: 3 to 4,000 characters, no control characters but line ends; - reads it from standard input"
        raise Fault("text", detail) from None


def is_id(given: str, what: str) -> str:
    """The id, in its form. Raises Fault."""
    if not re.match(UUID7, given):
        raise Fault("id", f"{given} is no {what}'s id")
    return given


async def opened(settings: Settings, hand_id: str, statement_: str) -> DisputeAnswer:
    """R1: of a reviewer's own accord."""
    async with open_room(settings) as room:
        hand = await room.disputes.hand(is_id(hand_id, "hand"))
        if hand is None:
            raise Fault("hand", f"there is no hand {hand_id} that is over")
        row = await hand_row(room.reader, hand_id)
        refused = None if row is None else await barred(room.reader, row, login())
        if refused is not None:
            raise Fault(refused.code, f"{refused.detail} ({refused.clause})")
        return _answered(await room.disputes.open(_request(), hand, statement_, "reviewer"))


async def commanded(settings: Settings, dispute_id: str, make: Make, *, writes: bool = False) -> DisputeAnswer:
    """A command to a dispute. Raises Fault that says why it is refused."""
    async with open_room(settings) as room:
        dispute = await room.disputes.dispute(is_id(dispute_id, "dispute"))
        if dispute is None:
            raise Fault("dispute", f"there is no dispute {dispute_id}")
        _no_party(dispute)
        reviewer = replace(await room.disputes.reviewer(login(), dispute), name=person())
        outcome = await room.disputes.command(
            dispute_id, _request(), lambda at_ms, _, seal: make(at_ms, reviewer, seal), writes=writes
        )
        return _answered(outcome)


def _no_party(dispute: Dispute) -> None:
    """R2. Raises Fault where the user's login is that of a player of the hand."""
    if dealt_in(dispute, login()):
        raise Fault("not_impartial", f"{login()} was dealt into the hand; another reviewer judges it (R2)")


async def _no_seat(reader: ProjectionReader) -> None:
    """R2. Raises Fault where a player of the user's login sits at a table."""
    refused = await unseated(reader, login())
    if refused is not None:
        raise Fault(refused.code, f"{refused.detail} ({refused.clause})")


def _request() -> Request:
    return Request(Caller(person(), CONSOLE), secrets.token_hex(16), "console")


def _answered(outcome: object) -> DisputeAnswer:
    match outcome:
        case DisputeAnswer():
            return outcome
        case Refusal(refused=refused):
            raise Fault(refused.code, f"{refused.detail} ({refused.clause})")
        case NotFound(what):
            raise Fault("not_found", f"there is no {what}")
        case KeyReused():
            raise AssertionError("each command has a key of its own")
        case _:
            raise AssertionError(type(outcome))


async def previewed(settings: Settings, dispute_id: str) -> CorrectionPreview:
    """R5: what a correction would come to. Raises Fault that says why there is none."""
    async with open_room(settings) as room:
        await _no_seat(room.reader)
        dispute = await room.disputes.dispute(is_id(dispute_id, "dispute"))
        if dispute is None:
            raise Fault("dispute", f"there is no dispute {dispute_id}")
        found = await room.disputes.correction(dispute_id, dispute)
        if isinstance(found, Refused):
            raise Fault(found.code, f"{found.detail} ({found.clause})")
        return found


async def course(settings: Settings, dispute_id: str) -> DisputeRead:
    """The dispute with all its texts."""
    async with open_room(settings) as room:
        await _no_seat(room.reader)
        found = await room.disputes.read(is_id(dispute_id, "dispute"), "reviewer")
        if found is None:
            raise Fault("dispute", f"there is no dispute {dispute_id}")
        _no_party(found.dispute)
        return found


async def listed(settings: Settings, phase: str | None) -> list[DisputeRow]:
    """All disputes, open ones first."""
    async with open_room(settings) as room:
        await _no_seat(room.reader)
        return await _all(lambda cursor: disputes(room.reader, phase=phase, cursor=cursor, limit=PAGE))


async def looked(settings: Settings, hand_id: str | None, name: str | None) -> list[Look]:
    """R7: all looks, the newest first."""
    async with open_room(settings) as room:
        return await _all(lambda cursor: looks(room.reader, hand_id=hand_id, person=name, cursor=cursor, limit=PAGE))


async def reported(settings: Settings, name: str, from_ms: int, to_ms: int) -> list[Any]:
    """The rows of a report, all of them."""
    async with open_books(settings) as books:
        reader = books.reader
        period = {"from_ms": from_ms, "to_ms": to_ms, "limit": ROWS}
        match name:
            case "commission":
                return await _all(lambda cursor: commission(reader, cursor=cursor, **period))
            case "fines":
                return await _all(lambda cursor: capped_fines(reader, cursor=cursor, **period))
            case "voids":
                return await _all(lambda cursor: voided_hands(reader, cursor=cursor, **period))
            case "banks":
                return await _all(lambda cursor: carried_banks(reader, cursor=cursor, limit=ROWS))
            case _:
                raise AssertionError(name)


async def signalled(settings: Settings, kind: str | None, player: str | None) -> list[Signal]:
    """All signals, or those of a kind or about a player."""
    known = next((each for each in KINDS if each == kind), None)
    if kind is not None and known is None:
        raise Fault("kind", f"there is no signal {kind}; there are {', '.join(KINDS)}")
    async with open_books(settings) as books:
        await _no_seat(books.reader)
        return await _all(lambda cursor: signals(books.reader, kind=known, player=player, cursor=cursor, limit=PAGE))


async def stated(settings: Settings, account: str, currency: str, from_ms: int, to_ms: int) -> tuple[int, list[Any]]:
    """The balance before the period, and the lines of an account in it. Raises Fault(`account`)."""
    async with open_books(settings) as books:
        await must_be_posted(books.reader, account, currency)
        lines: list[Any] = []
        opening, cursor = None, None
        while True:
            page = await statement(
                books.reader, account, currency, from_ms=from_ms, to_ms=to_ms, cursor=cursor, limit=ROWS
            )
            opening = page.opening if opening is None else opening
            lines += page.lines
            cursor = page.next
            if cursor is None:
                return opening, lines


async def must_be_posted(reader: ProjectionReader, account: str, currency: str) -> None:
    """Raises Fault(`account`) where nothing was ever posted to the account in that currency."""
    found = [each.currency for each in await balances(reader, [account])]
    if found and currency not in found:
        raise Fault("account", f"nothing was ever posted to {account} in {currency}, but in {', '.join(found)}")
    if not found:
        raise Fault("account", f"nothing was ever posted to an account {account}; an account is {ACCOUNT_FORMS}")


async def _all(read: Callable[[str | None], Any]) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page: Page[Any] = await read(cursor)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found
