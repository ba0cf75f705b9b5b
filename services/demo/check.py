"""The whole log checked: its money, the ledger against it account by account, and its chain."""

from __future__ import annotations

from msgspec import Struct

from domain.ledger import accounts
from infra.projection_store import ProjectionReader
from projections import ledger
from projections.catalogue import VERSIONS
from projections.ledger.projection import NAME
from services.books import caught_up
from services.cli.output import amount
from services.core import Core
from services.demo.sums import Reader, Sums, total

CATCH_UP_S = 60.0
TRIES = 5


class Checked(Struct, frozen=True, kw_only=True):
    """What was found. Amounts in minor units of one currency; `differences` in words, one for each mismatch."""

    events: int
    deposited: int
    in_accounts: int
    in_purses: int
    in_banks: int
    commission: int
    trial_balance: int
    differences: tuple[str, ...]
    chain: str


async def check(core: Core, currency: str) -> Checked:
    """Wait until the projections have caught up, then check. Raises Fault, `catching_up` where they do not."""
    async with ProjectionReader(core.addresses.application, versions=VERSIONS) as reader:
        tries = 0
        while True:
            heads = await core.store.part_heads()
            await caught_up(reader, heads, CATCH_UP_S)
            sums = await Reader(core.store, core.codec, core.play).sums(heads)
            trial = await ledger.trial_balance(reader)
            different = await _differences(reader, sums, trial)
            tries += 1
            # Somebody else may be at play on the same log; figures of two moments cannot be compared.
            if tries == TRIES or await core.store.part_heads() == heads:
                break
    walked = await core.store.verify()
    return Checked(
        events=walked.events,
        deposited=-sums.total(accounts.CASH, currency) - sums.total(accounts.COMPENSATION, currency),
        in_accounts=sums.total("player", currency),
        in_purses=sums.total("purse", currency),
        in_banks=sums.total("bank", currency),
        commission=sums.total(accounts.COMMISSION, currency),
        trial_balance=trial.sums().get(currency, 0),
        differences=tuple(different),
        chain="intact" if walked.is_intact else f"broken: {walked.broken[0]}",
    )


async def _differences(reader: ProjectionReader, sums: Sums, trial: ledger.TrialBalance) -> list[str]:
    """Where log and ledger differ: by account, then accounts that the log does not know, then what is not posted."""
    found = []
    booked = {(b.account, b.currency): b.balance for b in await ledger.balances(reader, {n for n, _ in sums.balances})}
    for (name, unit), ours in sorted(sums.balances.items()):
        theirs = booked.get((name, unit), 0)
        if ours != theirs:
            found.append(f"{name}: {amount(ours)} {unit} by the log, {amount(theirs)} by the ledger")
    for kind in trial.totals:
        unknown = kind.balance - total(booked, kind.kind, kind.currency)
        if unknown:
            found.append(f"{kind.kind}: {amount(unknown)} {kind.currency} in the ledger that the log does not know")
    parked = await reader.parked(NAME)
    return found + [f"{each.stream} event {each.seq} is not posted: {each.reason}" for each in parked]
