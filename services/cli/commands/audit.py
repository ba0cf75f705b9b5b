"""`khrap audit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from infra.audit import Audited

app = typer.Typer(help="The log's integrity, and evidence for others.", no_args_is_help=True)

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write it to a file.", show_default=False)]

Key = Annotated[str | None, typer.Option(help="The service's public key as you had it elsewhere: hex, or a file.")]


@app.command()
def verify(
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(help="A file of checkpoints that was kept elsewhere; more than once.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Walk every chain, tree and checkpoint, event by event. 0 if nothing was changed; an empty log verifies."""
    from services.cli import output, running
    from services.cli.auditing import verified

    with output.progress("walking") as progress:
        found, kept = running.run(verified(running.settings(), checkpoint or [], progress))
    if as_json:
        chain = "intact" if found.is_intact else f"broken: {found.first}"
        output.print_json(
            {
                "chain": chain,
                "events": found.events,
                "streams": found.streams,
                "checkpoints": found.checkpoints,
                "sealed": found.sealed,
                "kept": kept,
                "broken": found.broken,
                "broken_checkpoints": found.broken_checkpoints,
            }
        )
    else:
        _tell(found, kept)
    if not found.is_intact:
        raise typer.Exit(FAILS)


def _tell(found: Audited, kept: int) -> None:
    from services.cli.output import several

    print(f"{several(found.events, 'event')} in {several(found.streams, 'stream')} walked")
    print(f"{several(found.checkpoints, 'checkpoint')}, {several(found.sealed, 'event')} sealed")
    if kept:
        print(f"compared with {several(kept, 'checkpoint')} kept elsewhere")
    for broken in (*found.broken, *found.broken_checkpoints):
        print(f"broken: {broken}")
    print("the chain is intact" if found.is_intact else "the chain is broken")


@app.command()
def seal(as_json: AsJson = False) -> None:
    """Sign a checkpoint of all that the log holds. Keep it elsewhere: `khrap audit checkpoints`."""
    from infra.audit.checkpoint import head_document
    from services.cli import output, running
    from services.cli.auditing import sealed

    done = running.run(sealed(running.settings()))
    newest = done.checkpoint
    if as_json:
        output.print_json({"new": done.new, "checkpoint": None if newest is None else head_document(newest)})
    elif newest is None:
        print("nothing to seal: the log is empty")
    else:
        events = sum(part.size for part in newest.sealed)
        since = "" if done.new else "nothing new since "
        print(f"{since}checkpoint {newest.number}: {events:,} events, {newest.hash.hex()}")


@app.command()
def checkpoints(
    out: Out = None,
    after: Annotated[int, typer.Option(min=0, help="Only those after this number.")] = 0,
) -> None:
    """Print the checkpoints, one a line, to be kept elsewhere and given to `khrap audit verify --checkpoint`."""
    from services.cli import running
    from services.cli.auditing import exported

    _write(b"".join([line + b"\n" for line in running.run(exported(running.settings(), after))]), out)


@app.command()
def key(as_json: AsJson = False) -> None:
    """Print the public key that checkpoints are signed for, to be kept elsewhere; needs no servers."""
    from infra.audit.checkpoint import public_key, public_pem
    from infra.keys import load_keys
    from services.cli import output, running

    public = public_key(load_keys(running.settings()).audit_signing)
    if as_json:
        output.print_json({"algorithm": "Ed25519", "public_key": public.hex(), "pem": public_pem(public)})
    else:
        print(public.hex())


@app.command()
def bundle(
    hand: Annotated[str, typer.Argument(help="A hand's id.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write it to a file, 0600.", show_default=False),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(help="Why; needed: the look at its cards is recorded.", show_default=False),
    ] = None,
) -> None:
    """Print a hand's dispute bundle: all that proves it to an outsider. It holds every card of the hand."""
    from services.cli import running
    from services.cli.auditing import bundled
    from services.cli.output import write_private

    content = running.run(bundled(running.settings(), hand, reason)) + b"\n"
    if out is None:
        _write(content, None)
    else:
        write_private(out, content)


@app.command("check-bundle")
def check_bundle(
    file: Annotated[Path, typer.Argument(help="A dispute bundle.", show_default=False)],
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Check a dispute bundle. 0 if all is right, 3 if something could not be checked; needs no servers.

    Without --key the signature is not checked, but where this machine has the service's own key.
    """
    _check(file, key, None, as_json)


@app.command()
def consistency(
    first: Annotated[
        int, typer.Argument(min=1, help="The number of the checkpoint that was kept.", show_default=False)
    ],
    second: Annotated[
        int | None, typer.Option(min=1, help="That of a later one; left out, the newest.", show_default=False)
    ] = None,
    out: Out = None,
) -> None:
    """Print the proof that the log only grew between two checkpoints: nothing sealed was changed or taken away."""
    from services.cli import running
    from services.cli.auditing import grown

    _write(running.run(grown(running.settings(), first, second)) + b"\n", out)


@app.command("check-consistency")
def check_consistency(
    file: Annotated[Path, typer.Argument(help="What `khrap audit consistency` printed.", show_default=False)],
    key: Key = None,
    kept: Annotated[
        Path | None, typer.Option(help="The file of checkpoints that you kept yourself.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that a log only grew. 0 if all is right, 3 if something could not be checked; needs no servers.

    Without --kept it is not checked that the first checkpoint is the one that you know.
    """
    _check(file, key, kept, as_json)


def _check(file: Path, key: str | None, kept: Path | None, as_json: bool) -> None:
    from infra.audit.verifier import main

    if key is None:
        key = _own_key()
    arguments = [str(file), *(("--key", key) if key is not None else ())]
    arguments += ["--kept", str(kept)] if kept is not None else []
    raise typer.Exit(main([*arguments, *(("--json",) if as_json else ())]))


def _own_key() -> str | None:
    """The public key (hex) of the service whose keys are at hand here, which is then said; None without one."""
    from infra.audit.checkpoint import public_key
    from infra.faults import Fault
    from infra.keys import load_keys
    from infra.settings import read_settings

    try:
        settings = read_settings()
        file = settings.home_folder / "keys" / "audit.pem" if settings.is_embedded else settings.audit_key_file
        if file is None or not Path(file).is_file():
            return None
        found = public_key(load_keys(settings).audit_signing).hex()
    except (Fault, OSError):
        return None
    print(f"no --key: the signature is held against this machine's own key, {file}", file=sys.stderr)
    return found


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        print(content.decode(), end="")
    else:
        out.write_bytes(content)


@app.command()
def shuffle(
    deals: Annotated[int, typer.Option(min=1_000, help="How many decks of each size are shuffled.")] = 100_000,
    raw: Annotated[
        Path | None, typer.Option(help="Write every deal, with the seeds it was made of, to this file.", dir_okay=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Chi-square of card and position over many deals, of each size of deck. 0 if even; needs no servers."""
    from contextlib import nullcontext

    from infra.entropy import SystemEntropy
    from services.cli import output
    from services.cli.shuffling import SIZES, evenness

    with output.progress("shuffling") as progress, raw.open("w") if raw is not None else nullcontext() as lines:
        found = [
            evenness(size, deals, SystemEntropy(), lines, lambda done: progress(done, deals, f"{size} cards"))  # noqa: B023
            for size in SIZES
        ]
    is_even = all(each.is_even for each in found)
    if as_json:
        output.print_json({"even": is_even, "decks": found, "raw": None if raw is None else str(raw)})
    else:
        columns = ("cards", "deals", "chi-square", "degrees of freedom", "p")
        rows = [
            (e.size, f"{e.deals:,}", f"{e.chi_square:,.1f}", f"{e.degrees_of_freedom:,}", f"{e.p:.4f}") for e in found
        ]
        output.print_table(columns, rows, numbers=columns)
        uneven = ", ".join(str(each.size) for each in found if not each.is_even)
        print("the shuffle is even" if is_even else f"the shuffle is not even: decks of {uneven}")
    if not is_even:
        raise typer.Exit(FAILS)


@app.command()
def access(
    hand: Annotated[str | None, typer.Option(help="Only looks at this hand.", show_default=False)] = None,
    person: Annotated[str | None, typer.Option(help="Only this person's looks.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Who looked at the hidden cards of which hand, when and why; the newest first."""
    from infra.clock import rfc3339
    from services.cli import output, running
    from services.cli.hand import printable
    from services.cli.reviewing import is_id, looked

    looks = running.run(looked(running.settings(), None if hand is None else is_id(hand, "hand"), person))
    if as_json:
        output.print_json({"looks": looks})
        return
    output.print_table(
        ("at", "person", "hand", "what", "reason"),
        ((rfc3339(look.at_ms), look.person, look.hand_id, look.what, printable(look.reason)) for look in looks),
    )


@app.command()
def erase(
    dispute: Annotated[str, typer.Argument(help="A closed dispute's id.", show_default=False)],
    ground: Annotated[
        Literal["request", "retention", "order"], typer.Option(help="On which ground; it stays recorded.")
    ],
    as_json: AsJson = False,
) -> None:
    """Destroy the key of a dispute's texts: they can be read by nobody again, and its events stay and verify."""
    from domain.disputes.commands import EraseTexts
    from services.cli import output, running
    from services.cli.reviewing import commanded

    done = running.run(
        commanded(
            running.settings(), dispute, lambda at_ms, who, _: EraseTexts(at_ms=at_ms, reviewer=who, ground=ground)
        )
    )
    if as_json:
        output.print_json(done)
    else:
        print(f"the texts of dispute {dispute} are erased")
