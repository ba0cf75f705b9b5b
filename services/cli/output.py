"""What commands print: results on standard output, everything about the way there on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import Console

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for a program.")]


def console() -> Console:
    """Standard output, for people."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: Any) -> None:
    """`value` as JSON on one line."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> None:
    """Rows under their columns; those named in `numbers` are set to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(each) for each in row))
    console().print(table)


class Progress(Protocol):
    """How far a long work is."""

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        """`done` of `total`; the total may become known, or grow, on the way."""


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A bar on standard error while the work lasts; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}"),
    )
    stderr = Console(stderr=True)
    with Bar(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task(what, total=None, note="")

        def show(done: int, total: int | None = None, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note)

        yield show


def amount(minor: int) -> str:
    """An amount for people: two decimals, thousands apart."""
    whole, cents = divmod(abs(minor), 100)
    return f"{'−' if minor < 0 else ''}{whole:,}.{cents:02d}".replace(",", "\u202f")
