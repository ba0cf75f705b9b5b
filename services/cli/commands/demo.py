"""`khrap demo`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson


def demo(
    hands: Annotated[int, typer.Option(min=1, max=100_000, help="How many hands are played.")] = 20,
    players: Annotated[int, typer.Option(min=2, max=12, help="How many bots play.")] = 4,
    game: Annotated[Literal["khrap", "frap", "khrap5"], typer.Option(help="Which game.")] = "khrap",
    seed: Annotated[int | None, typer.Option(help="The same seed has the bots choose by the same chances.")] = None,
    as_json: AsJson = False,
) -> None:
    """A first minute: servers, API, bots that play over HTTP, and the books and chains checked at the end.

    Everything stays under .khrap, so that you can look further afterwards.
    """
    from services.cli import output, running
    from services.demo import print_summary, run_demo, too_many_players

    if too_many_players(game, players):
        raise typer.BadParameter(f"a table of {game} has no {players} seats", param_hint="--players")
    settings = running.settings()
    with output.progress("playing") as progress:
        outcome = running.run(run_demo(settings, hands=hands, players=players, game=game, seed=seed, progress=progress))
    if as_json:
        output.print_json(outcome.summary)
    else:
        print_summary(outcome.summary, outcome.told)
    if not outcome.holds:
        raise typer.Exit(FAILS)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)
