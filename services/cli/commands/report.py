"""`khrap report`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from services.cli.output import AsJson

app = typer.Typer(help="Reports for operators and compliance, as a table, CSV or JSON.", no_args_is_help=True)

DAYS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
From = Annotated[
    datetime | None, typer.Option("--from", formats=DAYS, help="The first day, of UTC.", show_default=False)
]
To = Annotated[
    datetime | None, typer.Option("--to", formats=DAYS, help="The day after the last, of UTC.", show_default=False)
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, safe for a spreadsheet; amounts in the smallest unit.")]


@app.command()
def commission(begin: From = None, end: To = None, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """What the house took, by day and table (T10)."""
    _report("commission", begin, end, as_csv, as_json)


@app.command()
def fines(begin: From = None, end: To = None, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """Fines of which a purse covered a part alone (T7)."""
    _report("fines", begin, end, as_csv, as_json)


@app.command()
def banks(as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """The banks that are carried now, by table (T6)."""
    _report("banks", None, None, as_csv, as_json)


@app.command()
def voids(begin: From = None, end: To = None, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """Hands that were voided (T12)."""
    _report("voids", begin, end, as_csv, as_json)


@app.command()
def signals(
    kind: Annotated[
        str | None, typer.Option(help="pair, dumped, clock, short_purse or voided.", show_default=False)
    ] = None,
    player: Annotated[str | None, typer.Option(help="About this player.", show_default=False)] = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """What reviewers may look at: pairs, dumped tricks, the clock, short purses (T7), voids. People decide."""
    _one_form(as_csv, as_json)
    from projections.signals import DEFINITIONS
    from services import reports
    from services.cli import output, running
    from services.cli.reviewing import signalled

    found = running.run(signalled(running.settings(), kind, player))
    if as_json:
        output.print_json({"definitions": DEFINITIONS, "signals": found})
        return
    _print(reports.SIGNALS, found, as_csv)
    if not as_csv:
        for each in dict.fromkeys(signal.kind for signal in found):
            print(f"{each}: {DEFINITIONS[each]}")


@app.command()
def statement(
    account: Annotated[
        str,
        typer.Argument(help="player:anna, purse:TABLE:anna, bank:TABLE, house:commission, house:compensation or cash."),
    ],
    currency: Annotated[str, typer.Option(help="Which currency.")] = "RUB",
    begin: From = None,
    end: To = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """All that came to an account and went from it in a period."""
    _one_form(as_csv, as_json)
    from services import reports
    from services.cli import output, running
    from services.cli.reviewing import stated

    opening, lines = running.run(stated(running.settings(), account, currency, *_period(begin, end)))
    if as_json:
        output.print_json({"account": account, "currency": currency, "opening": opening, "lines": lines})
        return
    if not as_csv:
        print(f"{account} {currency}, {output.amount(opening)} before")
    _print(reports.STATEMENT, lines, as_csv)


def _report(name: str, begin: datetime | None, end: datetime | None, as_csv: bool, as_json: bool) -> None:
    _one_form(as_csv, as_json)
    from services import reports
    from services.cli import output, running
    from services.cli.reviewing import reported

    shapes = {
        "commission": reports.COMMISSION,
        "fines": reports.FINES,
        "banks": reports.BANKS,
        "voids": reports.VOIDS,
    }
    rows = running.run(reported(running.settings(), name, *_period(begin, end)))
    if as_json:
        shape = shapes[name]
        output.print_json({"rows": [dict(zip(shape.columns, shape.cells(row), strict=True)) for row in rows]})
        return
    _print(shapes[name], rows, as_csv)


def _one_form(as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        raise typer.BadParameter("one of them: CSV or JSON", param_hint="--csv, --json")


def _period(begin: datetime | None, end: datetime | None) -> tuple[int, int]:
    from datetime import UTC

    from projections.reports.reads import EVER

    def ms(moment: datetime) -> int:
        return int(moment.replace(tzinfo=UTC).timestamp()) * 1_000

    if begin is not None and end is not None and begin >= end:
        raise typer.BadParameter(f"not before --to, {end:%Y-%m-%d}, the day after the last", param_hint="--from")
    return (0 if begin is None else ms(begin)), (EVER if end is None else ms(end))


def _print(shape: object, rows: Sequence[object], as_csv: bool) -> None:
    import sys

    from services.cli.hand import printable
    from services.cli.output import amount, print_table
    from services.reports import Shape
    from services.tabular import to_csv

    assert isinstance(shape, Shape)
    cells = [shape.cells(row) for row in rows]
    if as_csv:
        sys.stdout.write(to_csv(shape.columns, cells).replace("\r\n", "\n"))
        return
    shown = [
        [
            amount(value) if name in shape.amounts and isinstance(value, int) else printable(str(value))
            for name, value in zip(shape.columns, row, strict=True)
        ]
        for row in cells
    ]
    print_table(shape.columns, shown, numbers=shape.amounts)
