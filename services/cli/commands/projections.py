"""`khrap projections`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from infra.projection_store import Standing, Stopped
    from infra.settings import Settings

app = typer.Typer(help="The read models: how far they are, and what waits.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """A group, even while it holds one command."""


@app.command()
def status(as_json: AsJson = False) -> None:
    """How every projection stands. 0 if nothing is parked and no part is stopped."""
    from services.cli import output, running

    standings, stopped = running.run(_status(running.settings()))
    if as_json:
        output.print_json({"projections": standings, "stopped": stopped})
    else:
        output.print_table(
            ("projection", "version", "serves", "position", "behind", "since", "parked"),
            (
                (
                    s.name,
                    s.version,
                    "yes" if s.serving else "no",
                    f"{s.position:,}",
                    f"{s.head - s.position:,}",
                    s.behind_since or "",
                    len(s.parked),
                )
                for s in standings
            ),
            numbers=("version", "position", "behind", "parked"),
        )
        for standing in standings:
            for parked in standing.parked:
                print(f"{standing.name}: {parked.stream} waits at event {parked.seq}: {parked.code}: {parked.reason}")
        for each in stopped:
            print(f"part {each.part} is not read after position {each.pos}: {each.reason}")
    if stopped or any(s.parked for s in standings):
        raise typer.Exit(FAILS)


async def _status(settings: Settings) -> tuple[list[Standing], list[Stopped]]:
    from infra.projection_store import ProjectionReader
    from services.core import open_core

    async with open_core(settings) as core, ProjectionReader(core.addresses.application) as reader:
        return await reader.standings(), await reader.stopped()
