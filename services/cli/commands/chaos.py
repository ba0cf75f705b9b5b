"""`khrap chaos`."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson


def chaos(
    minutes: Annotated[float, typer.Option(min=0.2, max=600, help="For how long things are broken.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed breaks the same things at the same times.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Break everything while bots play, and check that nothing is lost, doubled or left standing.

    Several API, projector and steward processes on servers and a folder of their own. A seeded schedule kills and
    pauses processes, servers and connections, slows them, puts clocks wrong and rebuilds projections. Not repeated by a
    seed: which connections are hit, how far play is at that moment, and the order of what happens at once.
    """
    from services.chaos.report import print_report
    from services.chaos.simulation import run_chaos
    from services.cli import output, running

    settings = running.settings("error")
    with output.progress("chaos") as progress:
        report = running.run(run_chaos(settings, seconds=minutes * 60, seed=seed, progress=progress))
    if as_json:
        output.print_json(report)
    else:
        print_report(report)
    if not report.holds:
        raise typer.Exit(FAILS)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(chaos)
