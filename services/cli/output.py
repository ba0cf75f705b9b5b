"""What commands print: results on standard output, everything about the way there on standard error."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec
import typer

from infra.faults import Fault

if TYPE_CHECKING:
    from rich.console import Console

TEXT = 30
"""The least that a column of text gets, in characters."""
WIDEST = 10_000

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for a program.")]


def console() -> Console:
    """Standard output, for people."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: Any) -> None:
    """`value` as JSON on one line."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> None:
    """Rows under their columns; those named in `numbers` are set to the right.

    Numbers and ids stay in one piece, also where the terminal is narrower: they are there to be read and copied.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    cells = [[str(each) for each in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        longest = max(cell_len(each) for each in [name, *(row[index] for row in cells)])
        whole = name in numbers or not any(" " in row[index] for row in cells)
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=whole,
            overflow="ignore" if whole else "fold",
            min_width=longest if whole else min(longest, TEXT),
        )
    for row in cells:
        table.add_row(*row)
    least = Console(width=WIDEST).measure(table).minimum
    Console(highlight=False, width=max(console().width, least)).print(table)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read. Raises Fault(`output`)."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                os.fchmod(file.fileno(), 0o600)
                file.truncate()
            file.write(content)
    except OSError as error:
        raise Fault("output", f"{path}: {error.strerror}") from error


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


def several(count: int, what: str) -> str:
    """`1 hand`, `2,000 hands`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def amount(minor: int) -> str:
    """An amount for people: two decimals, thousands apart."""
    whole, cents = divmod(abs(minor), 100)
    return f"{'−' if minor < 0 else ''}{whole:,}.{cents:02d}".replace(",", "\u202f")
