"""`khrap ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from infra.settings import Settings
    from projections import ledger
    from services.cli.output import Progress

PAGE = 500

app = typer.Typer(help="The books: double entry, by the ledger's own reckoning.", no_args_is_help=True)


@app.command()
def trial_balance(as_json: AsJson = False) -> None:
    """Sums of all accounts by kind. 0 if everything sums to zero in every currency."""
    from services.cli import output, running

    trial = running.run(_trial_balance(running.settings()))
    if as_json:
        output.print_json({"totals": trial.totals, "sums": trial.sums(), "zero": trial.zero})
    else:
        rows = [(t.kind, t.currency, f"{t.accounts:,}", output.amount(t.balance)) for t in trial.totals]
        rows += [("[bold]all[/bold]", currency, "", output.amount(total)) for currency, total in trial.sums().items()]
        output.print_table(("kind", "currency", "accounts", "balance"), rows, numbers=("accounts", "balance"))
    if not trial.zero:
        raise typer.Exit(FAILS)


@app.command()
def reconcile(as_json: AsJson = False) -> None:
    """Fold the log afresh and compare the ledger with that, and with what accounts and tables say. 0 if all agree."""
    from services.cli import output, running

    with output.progress("reconciling") as progress:
        found = running.run(_reconcile(running.settings(), progress))
    if as_json:
        output.print_json({"holds": found.holds, **_fields(found)})
    else:
        print(f"{found.events:,} events, {found.entries:,} entries and {found.accounts:,} accounts compared")
        for each in found.differences:
            book, expected = output.amount(each.book), output.amount(each.expected)
            print(f"{each.what} {each.account} {each.currency}: {book} booked, {expected} expected ({each.where})")
        for waiting in found.waiting:
            print(f"not posted: {waiting.stream} from event {waiting.seq} on: {waiting.reason}")
        print("the books are right" if found.holds else "the books are wrong")
    if not found.holds:
        raise typer.Exit(FAILS)


@app.command()
def statement(
    account: Annotated[
        str,
        typer.Argument(help="player:anna, purse:TABLE:anna, bank:TABLE, house:commission, house:compensation or cash."),
    ],
    currency: Annotated[str, typer.Option(help="Which currency.")] = "RUB",
    as_json: AsJson = False,
) -> None:
    """All that came to an account and went from it, the oldest first."""
    from infra.clock import rfc3339
    from services.cli import output, running

    lines = running.run(_statement(running.settings(), account, currency))
    if as_json:
        output.print_json({"account": account, "currency": currency, "lines": lines})
        return
    output.print_table(
        ("at", "other", "clause", "change", "balance", "event"),
        (
            (
                rfc3339(line.at_ms),
                line.other,
                line.clause,
                output.amount(line.change),
                output.amount(line.balance),
                f"{line.stream} {line.seq}",
            )
            for line in lines
        ),
        numbers=("change", "balance"),
    )


async def _trial_balance(settings: Settings) -> ledger.TrialBalance:
    from projections import ledger
    from services.books import open_books

    async with open_books(settings) as books:
        return await ledger.trial_balance(books.reader)


async def _reconcile(settings: Settings, progress: Progress) -> ledger.Reconciliation:
    from projections import ledger
    from services.books import open_books

    async with open_books(settings) as books:
        return await ledger.reconcile(books.core.store, books.core.codec.decode_public, books.reader, progress)


async def _statement(settings: Settings, account: str, currency: str) -> list[ledger.Line]:
    from projections import ledger
    from services.books import open_books
    from services.cli.reviewing import must_be_posted

    async with open_books(settings) as books:
        await must_be_posted(books.reader, account, currency)
        lines: list[ledger.Line] = []
        cursor = None
        while True:
            page = await ledger.statement(books.reader, account, currency, cursor=cursor, limit=PAGE)
            lines += page.lines
            cursor = page.next
            if cursor is None:
                return lines


def _fields(found: ledger.Reconciliation) -> dict[str, object]:
    from msgspec.structs import asdict

    return asdict(found)
