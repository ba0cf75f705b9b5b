"""Accounts whose deposits are past 2^63 in all, and meet in one row of `cash`."""

from __future__ import annotations

import hashlib
from itertools import count, islice

from domain.events import AccountOpened, Deposited, Withdrawn
from domain.money import MAX_AMOUNT
from infra.store.chain import part_of
from tests.domain.ledger.evenings import CURRENCY, Entry

SINCE_MS = 1_767_323_045_678


def in_one_part(parts: int, players: int) -> list[str]:
    """So many players whose accounts are in one part of a store."""
    part = part_of(f"account-rich0-{CURRENCY}", parts)
    names = (f"rich{n}" for n in count())
    return list(islice((n for n in names if part_of(f"account-{n}-{CURRENCY}", parts) == part), players))


def deposited(player: str, amount: int = MAX_AMOUNT, currency: str = CURRENCY) -> list[Entry]:
    """An account with one deposit."""
    stream = f"account-{player}-{currency}"
    events = (AccountOpened(player=player, currency=currency), Deposited(amount=amount, balance=amount))
    return [
        Entry(stream, seq, hashlib.sha256(f"{stream} {seq}".encode()).digest()[:16], SINCE_MS + seq, event)
        for seq, event in enumerate(events, start=1)
    ]


def withdrawn(player: str) -> list[Entry]:
    """All of that taken out again."""
    stream, command = f"account-{player}-{CURRENCY}", hashlib.sha256(player.encode()).digest()[:16]
    return [Entry(stream, 3, command, SINCE_MS + 3, Withdrawn(amount=MAX_AMOUNT, balance=0))]
