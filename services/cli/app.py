"""All commands, put together."""

from __future__ import annotations

import typer

from services.cli.commands import (
    audit,
    bench,
    chaos,
    database,
    demo,
    dispute,
    hand,
    ledger,
    projections,
    report,
    serve,
    token,
)

app = typer.Typer(
    help="Khrap: an event-sourced service for the card games khrap, frap and khrap5.",
    epilog="Exit code 0: the thing holds. 1: it does not. 2: it could not be tried, or was asked wrongly. "
    "3: it holds as far as it could be checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

demo.add_to(app)
serve.add_to(app)
token.add_to(app)
chaos.add_to(app)
app.add_typer(database.app, name="db")
app.add_typer(hand.app, name="hand")
app.add_typer(ledger.app, name="ledger")
app.add_typer(projections.app, name="projections")
app.add_typer(audit.app, name="audit")
app.add_typer(dispute.app, name="dispute")
app.add_typer(report.app, name="report")
app.add_typer(bench.app, name="bench")
