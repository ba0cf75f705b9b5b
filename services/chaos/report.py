"""What a run came to: for a program as one object, for people as a page."""

from __future__ import annotations

from msgspec import Struct


class Report(Struct, frozen=True, kw_only=True):
    """What was done, what was checked how often, and what is `broken`, in words; nothing where all of it holds.

    `acts` and `missed` count by kind: a missed act found nothing to act upon (a process that was away just then).
    `absences`: how often a player left and came again. `moments`: how often the whole log was weighed. `books`: how
    often the trial balance was read, and the projections' standing. `rows`: by projection, those compared with a fresh
    fold. `folder` holds the schedule and the logs of this seed's latest run, `data` the servers' data where it broke.
    """

    seed: int
    seconds: float
    holds: bool
    broken: tuple[str, ...]
    processes: int
    starts: int
    acts: dict[str, int]
    missed: dict[str, int]
    tables: int
    bots: int
    absences: int
    hands: int
    events: int
    moments: int
    books: int
    acknowledged: int
    asked_again: int
    watchers: int
    watched: int
    resumed: int
    rows: dict[str, int]
    folder: str
    data: str | None


def print_report(report: Report) -> None:
    """The page."""
    from services.cli.output import console, print_table

    out = console()
    acts, missed = report.acts, report.missed
    print_table(
        ("act", "done", "missed"),
        ((kind, acts.get(kind, 0), missed.get(kind, 0)) for kind in sorted(acts.keys() | missed.keys())),
        numbers=("done", "missed"),
    )
    for line in (
        f"{report.processes} processes, started {report.starts} times",
        f"{report.tables} tables, {report.bots} bots, {report.absences} of whom left and came again",
        f"{report.hands:,} hands ended; {report.events:,} events, each dense and chained",
        f"money weighed at {report.moments:,} moments, the books read {report.books:,} times",
        f"{report.acknowledged:,} acknowledged commands, asked again {report.asked_again:,} times",
        f"{report.watchers} streams followed: {report.watched:,} events, resumed {report.resumed:,} times",
        "compared with a fresh fold: " + ", ".join(f"{name} {rows:,}" for name, rows in sorted(report.rows.items())),
    ):
        out.print(f"  {line}", soft_wrap=True)
    for each in report.broken:
        out.print(f"[red]✗[/red] {each}", soft_wrap=True, markup=True)
    if report.data is not None:
        out.print(f"  the servers' data: {report.data}", soft_wrap=True)
    out.print(f"  schedule and logs: {report.folder}", soft_wrap=True)
    verdict = "[green]✓[/green] all of it holds" if report.holds else "[red]✗ it does not hold[/red]"
    out.print(f"{verdict} (seed {report.seed}, {report.seconds:.0f} s)")
