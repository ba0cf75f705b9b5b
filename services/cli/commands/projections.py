"""`khrap projections`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.exits import CANNOT, FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.projection_store import Comparison, Standing, Stopped
    from infra.settings import Settings
    from projections.engine.rebuilding import Progress, Rebuilt
    from projections.engine.types import Projection
    from services.cli.output import Progress as Bar

app = typer.Typer(
    help="The read models: how far they are, what waits; built anew, compared, switched.", no_args_is_help=True
)

Name = Annotated[
    str,
    typer.Argument(
        help="A projection: lobby, hands, players, ledger, disputes, access, search or signals.", show_default=False
    ),
]
Processes = Annotated[int, typer.Option("--processes", min=1, max=64, help="How many processes fill it.")]


@app.command()
def status(as_json: AsJson = False) -> None:
    """How every projection stands. 0 if nothing is parked, none is damaged, and no part is stopped.

    A name such as ledger_v2_g3 says version and generation; `kept` whether a process keeps it up now; `seconds` for how
    long the oldest event that it has not passed has been waiting.
    """
    from services.cli import output, running

    standings, stopped = running.run(_status(running.settings()))
    now_ms = time.time_ns() // 1_000_000
    if as_json:
        output.print_json({"projections": [_standing(s, now_ms) for s in standings], "stopped": stopped})
    else:
        output.print_table(
            ("projection", "state", "kept", "position", "behind", "seconds", "rate/s", "parked"),
            (
                (
                    s.schema,
                    "serves" if s.serving else s.state,
                    "yes" if s.kept else "no",
                    f"{s.position:,}",
                    f"{s.lag_events:,}",
                    f"{s.lag_ms(now_ms) / 1000:,.1f}",
                    f"{s.rate:,}",
                    len(s.parked),
                )
                for s in standings
            ),
            numbers=("position", "behind", "seconds", "rate/s", "parked"),
        )
        for standing in standings:
            if standing.refused:
                may_not = "cannot be kept up" if standing.state == "following" else "may not serve"
                print(f"{standing.schema} {may_not}: {standing.refused}")
            for parked in standing.parked:
                print(f"{standing.schema}: {parked.stream} waits at event {parked.seq}: {parked.code}: {parked.reason}")
        for each in stopped:
            print(f"part {each.part} is not read after position {each.pos}: {each.reason}")
    if stopped or any(s.parked or s.refused for s in standings if s.state == "following"):
        raise typer.Exit(FAILS)


def _standing(standing: Standing, now_ms: int) -> dict[str, Any]:
    from msgspec.structs import asdict

    return {**asdict(standing), "lag_events": standing.lag_events, "lag_ms": standing.lag_ms(now_ms)}


async def _status(settings: Settings) -> tuple[list[Standing], list[Stopped]]:
    from infra.projection_store import ProjectionReader
    from services.core import open_core

    async with open_core(settings) as core, ProjectionReader(core.addresses.application) as reader:
        return await reader.standings(), await reader.stopped()


@app.command()
def rebuild(
    name: Annotated[str | None, typer.Argument(help="Which one.", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them, one after another.")] = False,
    processes: Processes = 1,
    accept: Annotated[
        bool, typer.Option("--accept", help="Switch though rows differ from those that serve: these were wrong.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build a projection anew from the log, beside the one that serves; check it, and switch the readers to it.

    0 if they are switched. One that was killed goes on where it was. The old one is kept up until `drop`, and
    `rollback` goes back to it.
    """
    from projections.catalogue import VERSIONS, newest
    from services.cli import output, running

    if (name is None) != everything:
        _asked_wrongly("name one projection, or give --all")
    projections = [newest(each) for each in (sorted(VERSIONS) if name is None else [name])]
    done = []
    for projection in projections:
        with output.progress(f"rebuild {projection.name}") as bar:
            work = _rebuilt(running.settings(), projection, processes, accept, _telling(bar, as_json))
            done.append(running.run(work))
        if not as_json:
            _print_rebuilt(done[-1])
    if as_json:
        output.print_json({"rebuilt": done})
    if not all(each.switched for each in done):
        raise typer.Exit(FAILS)


def _telling(bar: Bar, as_json: bool) -> Callable[[Progress], None]:
    """A bar for people; for programs a line of JSON on standard error each time."""
    import sys

    import msgspec

    def tell(progress: Progress) -> None:
        if as_json:
            sys.stderr.write(msgspec.json.encode(progress).decode() + "\n")
            return
        note = f"{progress.phase}, {progress.rate:,} events/s, the serving one is {progress.lag:,} behind"
        bar(progress.done, progress.total, note)

    return tell


async def _rebuilt(
    settings: Settings,
    projection: Projection[Any],
    processes: int,
    accept: bool,
    tell: Callable[[Progress], None],
) -> Rebuilt:
    from projections.engine.rebuilding import Rebuild
    from services.core import open_core

    async with open_core(settings) as core:
        work = Rebuild(
            core.addresses.application,
            core.store,
            core.codec.decode_public,
            projection,
            processes=processes,
            on_progress=tell,
        )
        return await work.run(accept=accept)


def _print_rebuilt(done: Rebuilt) -> None:
    again = ", gone on with" if done.resumed else ""
    rate = done.events / done.seconds if done.seconds else 0
    print(f"{done.schema}{again}: {done.events:,} events in {done.seconds:.1f} s ({rate:,.0f} a second)")
    if done.comparison is not None:
        _print_comparison(done.comparison)
    for each in done.broken:
        print(f"broken: {each}")
    if done.switched:
        print(f"readers see {done.schema}; the one before follows until `khrap projections drop {done.name}`")
    elif done.broken:
        print("not switched to: what breaks the laws never serves; see whether the log or the code is wrong")
    else:
        print("not switched to; --accept would, where the rows that serve are the wrong ones")


def _print_comparison(comparison: Comparison) -> None:
    for each in comparison.differences:
        if each.column is None:
            where = "there, and should not be" if each.ours is None else "missing"
            print(f"differs: {each.table} ({each.key}): what serves has the row {where}")
        else:
            print(
                f"differs: {each.table} ({each.key}) {each.column}: serves {each.other}, a fresh fold says {each.ours}"
            )
    for damaged in comparison.damaged:
        print(f"cannot be read where it serves: {damaged}")
    for unsaid in comparison.unsaid:
        print(f"not in both versions, and not among the changes that the release names: {unsaid}")
    for parked in comparison.parked:
        print(f"parked by the fresh fold alone: {parked}")
    if comparison.alike:
        print(f"{comparison.rows:,} rows are as those that served after {comparison.events:,} events")


@app.command()
def verify(name: Name, processes: Processes = 1, as_json: AsJson = False) -> None:
    """Compare the rows that serve with a fresh fold of the log. 0 if they are alike and the laws hold."""
    from services.cli import output, running

    with output.progress(f"verify {name}") as bar:
        found = running.run(_verified(running.settings(), name, processes, _telling(bar, as_json)))
    comparison = found.comparison
    assert comparison is not None
    if as_json:
        output.print_json(found)
    else:
        _print_comparison(comparison)
        for each in comparison.broken:
            print(f"broken: {each}")
        holds = comparison.alike and not comparison.broken
        print(f"{found.schema} is {'as a fresh fold of the log makes it' if holds else 'not as the log makes it'}")
    if comparison.broken or not comparison.alike:
        raise typer.Exit(FAILS)


async def _verified(settings: Settings, name: str, processes: int, tell: Callable[[Progress], None]) -> Rebuilt:
    from infra.projection_store import Generations
    from projections.catalogue import newest, of_version
    from projections.engine.rebuilding import Rebuild
    from services.core import open_core

    projection = newest(name)
    async with open_core(settings) as core:
        async with Generations.open(core.addresses.application) as generations:
            serving = await generations.serving(name)
        if serving is not None:
            projection = of_version(name, serving.version)
        work = Rebuild(
            core.addresses.application,
            core.store,
            core.codec.decode_public,
            projection,
            processes=processes,
            on_progress=tell,
        )
        return await work.verify()


@app.command()
def rollback(name: Name, as_json: AsJson = False) -> None:
    """Go back to the generation that served before. The one that is left follows on, until it is dropped."""
    from projections.catalogue import newest
    from services.cli import output, running

    newest(name)
    left, serves = running.run(_rolled_back(running.settings(), name))
    if as_json:
        output.print_json({"served": left, "serves": serves})
    else:
        print(f"readers see {serves} again; {left} follows until `khrap projections drop {name}`")


async def _rolled_back(settings: Settings, name: str) -> tuple[str, str]:
    from projections.engine.retiring import roll_back
    from services.core import open_core

    async with open_core(settings) as core:
        return await roll_back(core.addresses.application, name)


@app.command()
def drop(name: Name, as_json: AsJson = False) -> None:
    """Drop all generations of a projection but the one that serves."""
    from projections.catalogue import newest
    from services.cli import output, running

    newest(name)
    dropped = running.run(_dropped(running.settings(), name))
    if as_json:
        output.print_json({"dropped": dropped})
    else:
        print(f"dropped {', '.join(dropped)}")


async def _dropped(settings: Settings, name: str) -> list[str]:
    from projections.engine.retiring import drop
    from services.core import open_core

    async with open_core(settings) as core:
        return await drop(core.addresses.application, name)


def _asked_wrongly(what: str) -> None:
    typer.echo(f"error: {what}", err=True)
    raise typer.Exit(CANNOT)
