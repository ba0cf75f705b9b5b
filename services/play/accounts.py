"""Commands to accounts, and the account side of what happens at tables. Source: rulebook T2, T3, T13."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain import accounts
from domain.accounts import Account
from domain.commands import AccountCommand
from domain.events import AccountEvent, AccountOpened, Event
from domain.refusal import Refused
from domain.table import Table
from infra.clock import Clock
from infra.codec import Codec
from infra.faults import Fault
from infra.meta import command_id, decode_meta
from infra.metrics import REFUSALS
from infra.store import Appended, Conflict, Duplicate, EventStore, StoredEvent
from services.play.types import AccountAnswer, AccountOutcome, KeyReused, NotFound, Refusal, Request
from services.play.writing import Draft, same_request

ATTEMPTS = 3


def account_stream(player: str, currency: str) -> str:
    """The stream of a player's account in one currency."""
    return f"account-{player}-{currency}"


class Read:
    """An account as read: its state, the stream's version and hash, the time of its last event."""

    def __init__(self, account: Account | None, version: int, last_hash: bytes, at_ms: int) -> None:
        self.account = account
        self.version = version
        self.hash = last_hash
        self.at_ms = at_ms


class Accounts:
    """All that may be asked of accounts. They are read from the log each time: every event carries the balance."""

    def __init__(self, store: EventStore, codec: Codec, clock: Clock) -> None:
        self._store = store
        self._codec = codec
        self._clock = clock

    async def account(self, player: str, currency: str) -> tuple[int, Account] | None:
        """The account's version and state, or None."""
        read = await self._read(player, currency)
        return None if read.account is None else (read.version, read.account)

    async def command(
        self, player: str, currency: str, request: Request, make: Callable[[int], AccountCommand]
    ) -> AccountOutcome:
        """Decide and append; at most three times where others were faster. Raises Fault."""
        stream = account_stream(player, currency)
        name = command_id(request.caller.subject, stream, request.key)
        for _ in range(ATTEMPTS):
            read = await self._read(player, currency)
            at_ms = max(self._clock.now_ms(), read.at_ms)
            event = accounts.decide(read.account, make(at_ms))
            if isinstance(event, Refused):
                before = await self._store.find_command(name, (stream,))
                if before:
                    return self._repeat(stream, before, request)
                if event.code == "no_account":
                    return NotFound(f"account of {player} in {currency}")
                REFUSALS.labels(event.code).inc()
                return Refusal(event, read.version)
            draft = Draft(name, request, self._codec)
            draft.add(draft.stream(stream, read.version, read.hash), (event,), at_ms)
            verdict = await self._store.append(draft.done())
            match verdict:
                case Appended(heads):
                    return AccountAnswer(heads[0].seq, accounts.evolve(read.account, event).balance)
                case Duplicate(stored):
                    return self._repeat(stream, stored, request)
                case Conflict():
                    continue
        raise Fault("conflict", f"the account changed {ATTEMPTS} times in a row while this was decided; try again")

    async def move(
        self, draft: Draft, table: Table | None, events: Sequence[Event], table_id: str, at_ms: int
    ) -> Refused | None:
        """Add to `draft` what a table's events mean for accounts; or why an account refuses."""
        wanted = accounts.moves(tuple(events), table_id, at_ms)
        if not wanted:
            return None
        assert table is not None
        for player, commands in sorted(wanted.items()):
            read = await self._read(player, table.settings.currency)
            to = draft.stream(account_stream(player, table.settings.currency), read.version, read.hash)
            account = read.account
            for command in commands:
                event = accounts.decide(account, command)
                if isinstance(event, Refused):
                    return event
                account = accounts.evolve(account, event)
                draft.add(to, (event,), max(at_ms, read.at_ms))
        return None

    async def include(
        self, draft: Draft, player: str, currency: str, command: AccountCommand, at_ms: int
    ) -> Refused | None:
        """Add to `draft` what a command to one account comes to; or why the account refuses."""
        read = await self._read(player, currency)
        event = accounts.decide(read.account, command)
        if isinstance(event, Refused):
            return event
        to = draft.stream(account_stream(player, currency), read.version, read.hash)
        draft.add(to, (event,), max(at_ms, read.at_ms))
        return None

    def _repeat(self, stream: str, stored: Sequence[StoredEvent], request: Request) -> AccountOutcome:
        if not same_request(stored[0], request):
            return KeyReused(request.key)
        last = [e for e in stored if e.stream == stream][-1]
        event = self._codec.decode(last)
        balance = 0 if isinstance(event, AccountOpened) else _balance(event)
        return AccountAnswer(last.seq, balance)

    async def _read(self, player: str, currency: str) -> Read:
        last = await self._store.read_last(account_stream(player, currency))
        if last is None:
            return Read(None, 0, bytes(32), 0)
        event = self._codec.decode(last)
        balance = 0 if isinstance(event, AccountOpened) else _balance(event)
        account = Account(player=player, currency=currency, balance=balance)
        return Read(account, last.seq, last.hash, decode_meta(last.meta).at_ms)


def _balance(event: Event) -> int:
    assert isinstance(event, AccountEvent)
    assert not isinstance(event, AccountOpened)
    return event.balance
