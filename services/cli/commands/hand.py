"""`khrap hand`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from services.cli.output import AsJson

if TYPE_CHECKING:
    from domain.handfile import HandFile
    from infra.settings import Settings

app = typer.Typer(help="Hands as portable files: take one out, look at it, replay and compare.", no_args_is_help=True)

Reason = Annotated[
    str | None,
    typer.Option(help="Why; needed for a hand of the log, each look at whose cards is recorded.", show_default=False),
]


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(help="Each one hand, a JSON array of hands, or JSON lines; .gz too.", show_default=False),
    ],
    as_json: AsJson = False,
) -> None:
    """Replay every hand and compare it with its result or refusal. 0 if all hold; needs no servers."""
    from services.cli.hand import check_files

    raise typer.Exit(check_files(files, as_json))


@app.command()
def show(
    hand: Annotated[str, typer.Argument(help="A hand's id, or a file.", show_default=False)],
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Tell a hand card by card."""
    from services.cli import running
    from services.cli.hand import show, show_file

    if Path(hand).exists():
        raise typer.Exit(show_file(hand, as_json))
    raise typer.Exit(show(running.run(_file(running.settings(), hand, "view", reason)), as_json))


@app.command()
def export(
    hand: Annotated[str, typer.Argument(help="A hand's id.", show_default=False)],
    view: Annotated[
        str | None, typer.Option(help="Only what this seat's player may see, or `public`.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it to a file, 0600.", show_default=False),
    ] = None,
    reason: Reason = None,
) -> None:
    """Print a hand's file (`khrap-hand/1`), with all its cards unless --view says otherwise."""
    from domain.handfile import HandFileError, redact, to_json
    from infra.faults import Fault
    from services.cli import running
    from services.cli.output import write_private

    if view is not None and view != "public" and not view.isdecimal():
        raise typer.BadParameter("a seat's number, or public", param_hint="--view")
    file = running.run(_file(running.settings(), hand, "file", reason))
    if view is not None:
        try:
            file = redact(file, "public" if view == "public" else int(view))
        except HandFileError as error:
            raise Fault("view", error.message) from error
    content = to_json(file).decode()
    if output is None:
        print(content)
    else:
        write_private(output, content.encode() + b"\n")


async def _file(settings: Settings, hand_id: str, what: Literal["view", "file"], reason: str | None) -> HandFile:
    """The whole file of a hand that is over; the look is recorded first."""
    from domain.handfile import from_events
    from infra.faults import Fault
    from projections.hands import hand
    from services.api.forms import UUID7
    from services.books import open_books
    from services.cli.looking import record_look, said
    from services.play.service import table_stream

    if not re.match(UUID7, hand_id):
        raise Fault("hand", f"{hand_id} is neither a file nor a hand's id")
    why = said(reason)
    async with open_books(settings) as books:
        core = books.core
        row = await hand(books.reader, hand_id)
        if row is None or row.last_seq is None:
            raise Fault("hand", f"there is no hand {hand_id} that is over; a running one is nobody's to see")
        await record_look(books, row, what, why)
        count = row.last_seq - row.first_seq + 1
        stored = await core.store.read_stream(table_stream(row.table_id), row.first_seq - 1, count)
        return from_events([core.codec.decode(each) for each in stored])
