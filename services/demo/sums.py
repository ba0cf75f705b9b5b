"""Where all the money is, read from the log alone: account streams and table folds, never the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct, field

from domain.events import (
    AccountEvent,
    AccountOpened,
    Adjusted,
    BoughtIn,
    CashedOut,
    CommissionTaken,
    Deposited,
    HandCorrected,
    Withdrawn,
)
from domain.ledger import accounts
from domain.table import Table
from infra.codec import Codec
from infra.store import EventStore, StoredEvent
from services.play.service import Play

BATCH = 5_000
ACCOUNT = "account-"
TABLE = "table-"
COMMISSION = str(CommissionTaken.__struct_config__.tag)
CORRECTED = str(HandCorrected.__struct_config__.tag)
CLOSED = "table_closed"

Balances = dict[tuple[str, str], int]
"""(account's name, currency) → minor units, in the ledger's names."""


def total(balances: Balances, kind: str, currency: str) -> int:
    """What the accounts of a kind (`domain.ledger.accounts.KINDS`) hold together."""
    return sum(b for (name, c), b in balances.items() if c == currency and accounts.kind(name) == kind)


class Sums(Struct):
    """All money of the log up to one position of every part, in minor units.

    `balances` has the accounts by name: players, purses, banks, the house, and `cash`, which owes what came in.
    """

    events: int = 0
    balances: Balances = field(default_factory=dict)

    def total(self, kind: str, currency: str) -> int:
        """What the accounts of a kind hold together."""
        return total(self.balances, kind, currency)

    def add(self, name: str, currency: str, amount: int) -> None:
        """Credit an account, or debit it where `amount` is below zero."""
        self.balances[name, currency] = self.balances.get((name, currency), 0) + amount


class Reader:
    """Walks the log once."""

    def __init__(self, store: EventStore, codec: Codec, play: Play) -> None:
        self._store = store
        self._codec = codec
        self._play = play

    async def sums(self, upto: Mapping[int, int]) -> Sums:
        """The sums of the log up to the position `upto` of each part. Raises Fault."""
        sums = Sums()
        tables: dict[str, int] = {}  # those not closed, with the last number that counts
        commissions: dict[str, int] = {}
        borne: dict[str, int] = {}  # R5: by the house, where a correction could take nothing back
        players: dict[str, tuple[str, str]] = {}
        vector = dict.fromkeys(upto, 0)
        while wanted := {part: pos for part, pos in vector.items() if pos < upto[part]}:
            for event in await self._store.read_parts(wanted, BATCH):
                if event.pos > upto[event.part]:
                    continue
                vector[event.part] = event.pos
                sums.events += 1
                if event.stream.startswith(ACCOUNT):
                    self._account(sums, players, event)
                elif event.stream.startswith(TABLE):
                    table_id = event.stream.removeprefix(TABLE)
                    tables[table_id] = event.seq
                    if event.type == COMMISSION:
                        taken = self._codec.decode_public(event)
                        assert isinstance(taken, CommissionTaken)
                        commissions[table_id] = commissions.get(table_id, 0) + taken.amount
                    elif event.type == CORRECTED:
                        corrected = self._codec.decode_public(event)
                        assert isinstance(corrected, HandCorrected)
                        commissions[table_id] = commissions.get(table_id, 0) + corrected.commission_due
                        dues = [(p.due, p.moved) for p in corrected.players]
                        for due, moved in (*dues, (corrected.bank_due, corrected.bank_moved)):
                            borne[table_id] = borne.get(table_id, 0) + moved - due
                    elif event.type == CLOSED:
                        del tables[table_id]
        for table_id, commission in commissions.items():
            table = await self._folded(table_id, tables.get(table_id))
            sums.add(accounts.COMMISSION, table.settings.currency, commission)
        for table_id, amount in borne.items():
            table = await self._folded(table_id, tables.get(table_id))
            sums.add(accounts.COMPENSATION, table.settings.currency, -amount)
        for table_id, seq in tables.items():
            _count_table(sums, table_id, await self._folded(table_id, seq))
        return sums

    def _account(self, sums: Sums, players: dict[str, tuple[str, str]], stored: StoredEvent) -> None:
        event = self._codec.decode_public(stored)
        assert isinstance(event, AccountEvent)
        if isinstance(event, AccountOpened):
            players[stored.stream] = event.player, event.currency
        player, currency = players[stored.stream]
        _count_account(sums, accounts.player(player), currency, event)

    async def _folded(self, table_id: str, seq: int | None) -> Table:
        """The table after event `seq`, or as it is now."""
        if seq is None:
            found = await self._play.table(table_id)
            assert found is not None, table_id
            return found[1]
        (step,) = await self._play.steps(table_id, seq - 1, 1)
        return step.after


def _count_account(sums: Sums, name: str, currency: str, event: AccountEvent) -> None:
    """The balance after the event, which every one carries; and what came from, or went to, outside."""
    match event:
        case AccountOpened():
            return
        case Deposited(amount=amount):
            sums.add(accounts.CASH, currency, -amount)
        case Withdrawn(amount=amount):
            sums.add(accounts.CASH, currency, amount)
        case Adjusted(amount=amount):
            sums.add(accounts.COMPENSATION, currency, -amount)
        case BoughtIn() | CashedOut():
            pass
        case _:
            assert_never(event)
    sums.add(name, currency, event.balance - sums.balances.get((name, currency), 0))


def _count_table(sums: Sums, table_id: str, table: Table) -> None:
    """Purses and bank as of the last settled hand, as the books have them: what a hand moves, it moves when it ends."""
    currency = table.settings.currency
    for seat in table.seats:
        sums.add(accounts.purse(table_id, seat.player), currency, seat.purse)
    sums.add(accounts.bank(table_id), currency, table.carried_bank)
