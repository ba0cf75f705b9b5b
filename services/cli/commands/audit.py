"""`khrap audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from infra.settings import Settings
    from infra.store import Walked
    from services.cli.output import Progress

app = typer.Typer(help="The log's integrity.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """A group, even while it holds one command."""


@app.command()
def verify(as_json: AsJson = False) -> None:
    """Walk every chain of the log, event by event. 0 if nothing was changed; an empty log verifies."""
    from services.cli import output, running

    with output.progress("walking") as progress:
        walked = running.run(_walked(running.settings(), progress))
    if as_json:
        chain = "intact" if walked.is_intact else f"broken: {walked.broken[0]}"
        output.print_json({"chain": chain, "events": walked.events, "streams": walked.streams, "broken": walked.broken})
    else:
        print(f"{walked.events:,} events in {walked.streams:,} streams walked")
        for broken in walked.broken:
            print(f"broken: {broken}")
        print("the chain is intact" if walked.is_intact else "the chain is broken")
    if not walked.is_intact:
        raise typer.Exit(FAILS)


async def _walked(settings: Settings, progress: Progress) -> Walked:
    from services.core import open_core

    async with open_core(settings) as core:
        total = sum((await core.store.part_heads()).values())
        done = 0

        def read(events: int) -> None:
            nonlocal done
            done += events
            progress(done, total)

        return await core.store.verify(read)
