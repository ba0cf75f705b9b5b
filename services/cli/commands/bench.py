"""`khrap bench`."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.output import AsJson, Progress

if TYPE_CHECKING:
    from services.bench.common import Report

app = typer.Typer(
    help="The benchmarks: ours beside a reference, in the same run. They use servers and a folder of their own.",
    no_args_is_help=True,
)

Seconds = Annotated[float, typer.Option("--seconds", min=0.2, help="How long each case is measured.")]


@app.command()
def append(seconds: Seconds = 5.0, as_json: AsJson = False) -> None:
    """Events a second into the store, beside plain INSERTs by pgbench with as many clients."""
    from services.bench.append import bench_append

    _report("append", lambda progress: bench_append(seconds=seconds, progress=progress), as_json)


@app.command()
def actions(seconds: Seconds = 6.0, as_json: AsJson = False) -> None:
    """Durable player actions a second over HTTP, beside an authenticated no-op POST of the same server."""
    from services.bench.actions import bench_actions

    _report("actions", lambda progress: bench_actions(seconds=seconds, progress=progress), as_json)


@app.command()
def live(seconds: Seconds = 9.0, as_json: AsJson = False) -> None:
    """From an action's commit to who follows the table, beside a bare Redis publish-to-receive."""
    from services.bench.live import bench_live

    _report("live", lambda progress: bench_live(seconds=seconds, progress=progress), as_json)


@app.command()
def load(
    hands: Annotated[int, typer.Option(min=11, help="How many hands lie behind the long table.")] = 10_000,
    as_json: AsJson = False,
) -> None:
    """Time to load a table with 10 hands behind it and with many."""
    from services.bench.load import bench_load

    _report("load", lambda progress: bench_load(hands=hands, progress=progress), as_json)


@app.command()
def replay(
    hands: Annotated[int, typer.Option(min=3, help="How many hands are recorded.")] = 1_500,
    seconds: Seconds = 5.0,
    as_json: AsJson = False,
) -> None:
    """Recorded hands decoded, folded and settled, beside msgspec, psycopg, OpenSpiel and PokerKit."""
    from services.bench.replay import bench_replay

    _report("replay", lambda progress: bench_replay(hands=hands, seconds=seconds, progress=progress), as_json)


@app.command()
def rules(seconds: Seconds = 5.0, as_json: AsJson = False) -> None:
    """Play by chance, legal actions asked for, one decided and folded, beside OpenSpiel and PokerKit."""
    from services.bench.rules import bench_rules

    _report("rules", lambda progress: bench_rules(seconds=seconds, progress=progress), as_json)


@app.command()
def rebuild(
    events: Annotated[int, typer.Option(min=1_000, help="How many events the log has.")] = 1_000_000,
    as_json: AsJson = False,
) -> None:
    """The ledger built anew from a long log, beside a bare reader of its rows; and the status of all projections."""
    from services.bench.rebuild import bench_rebuild

    _report("rebuild", lambda progress: bench_rebuild(events=events, progress=progress), as_json)


@app.command()
def verify(
    events: Annotated[int, typer.Option(min=5_000, help="How many events the log holds.")] = 1_000_000,
    as_json: AsJson = False,
) -> None:
    """The whole log verified, chains, trees and checkpoints, beside plain SHA-256 over the same bytes."""
    from services.bench.verify import bench_verify

    _report("verify", lambda progress: bench_verify(events=events, progress=progress), as_json)


def _report(name: str, bench: Callable[[Progress], Awaitable[Report]], as_json: bool) -> None:
    from services.cli import output, running

    running.settings("error")

    async def measured(progress: Progress) -> Report:
        return await bench(progress)

    with output.progress(f"bench {name}") as progress:
        report = running.run(measured(progress))
    for row in report.rows:
        if row["case"] not in report.ratio and "ratio" in row:
            print(f"{row['case']} was not measured: {row['reference']}", file=sys.stderr)
    if as_json:
        output.print_json(report)
        return
    for columns, alike in groupby(report.rows, key=list):
        rows = list(alike)
        numbers = [column for column in columns if isinstance(rows[0][column], int | float)]
        output.print_table(columns, ([_text(each) for each in row.values()] for row in rows), numbers=numbers)
    for case, ratio in report.ratio.items():
        print(f"{case}: {ratio:.2f} × the reference")


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
