"""`khrap dispute`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from services.cli.output import AsJson

if TYPE_CHECKING:
    from services.cli.reviewing import Make

app = typer.Typer(
    help=(
        "Disputes of hands that are over (rulebook R). You act as the user that runs the command, by uid: "
        "os-LOGIN, who is also held to what the player or reviewer LOGIN may not do. What moves money is proposed and "
        "approved by two persons with tokens of their own, on the page /review or over the API, and not from here."
    ),
    no_args_is_help=True,
)

DisputeId = Annotated[str, typer.Argument(help="A dispute's id.", show_default=False)]
Text = Annotated[str, typer.Option(help="What you have to say; - reads it from standard input.", show_default=False)]
Proposal = Annotated[int, typer.Argument(help="A proposal's number.", min=1, show_default=False)]


@app.command("list")
def list_(
    phase: Annotated[
        Literal["open", "judged", "closed"] | None, typer.Option(help="Only those.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """All disputes: the open ones first, by age, so that what is overdue stands first."""
    from infra.clock import rfc3339
    from services.cli import output, running
    from services.cli.reviewing import listed

    rows = running.run(listed(running.settings(), phase))
    if as_json:
        output.print_json({"disputes": rows})
        return
    output.print_table(
        ("dispute", "hand", "opener", "phase", "outcome", "due", "overdue", "paid"),
        (
            (
                row.dispute_id,
                row.hand_id,
                f"{row.opener} ({row.role})",
                row.phase,
                row.outcome or "",
                "" if row.due_ms is None else rfc3339(row.due_ms),
                row.overdue or "",
                output.amount(row.paid) if row.paid else "corrected" if row.corrected else "",
            )
            for row in rows
        ),
        numbers=("overdue", "paid"),
    )


@app.command()
def show(dispute: DisputeId, as_json: AsJson = False) -> None:
    """A dispute's whole course, texts and all."""
    from infra.clock import rfc3339
    from services.cli import output, running
    from services.cli.hand import printable
    from services.cli.reviewing import course

    found = running.run(course(running.settings(), dispute))
    if as_json:
        output.print_json(found)
        return
    print(f"hand {found.dispute.hand_id}, opened by {found.dispute.opener} ({found.dispute.role})")
    for entry in found.entries:
        rest = {k: v for k, v in entry.items() if k not in ("seq", "at", "type", "text")}
        said = ", ".join(f"due {rfc3339(v)}" if k == "due_ms" else f"{k} {printable(str(v))}" for k, v in rest.items())
        print(f"{entry['seq']:>3} {entry['at']} {entry['type']}: {said}")
        if "text" in entry:
            text = "(erased)" if entry["text"] is None else entry["text"]
            for line in text.split("\n"):
                print(f"      {printable(line)}")


@app.command("open")
def open_(
    hand: Annotated[str, typer.Argument(help="A hand's id.", show_default=False)], text: Text, as_json: AsJson = False
) -> None:
    """Dispute a hand of your own accord, as a reviewer."""
    from services.cli import running
    from services.cli.reviewing import opened, written

    _said(running.run(opened(running.settings(), hand, written(text))), as_json)


@app.command()
def note(
    dispute: DisputeId,
    text: Text,
    shared: Annotated[bool, typer.Option("--shared", help="The opener may read it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add a note."""
    from domain.disputes.commands import AddNote
    from services.cli.reviewing import written

    said = written(text)
    _command(
        dispute,
        lambda at_ms, who, seal: AddNote(
            at_ms=at_ms, person=who.name, role="reviewer", text=seal(said), shared=shared, reviewer=who
        ),
        as_json,
        writes=True,
    )


@app.command()
def verdict(
    dispute: DisputeId,
    outcome: Annotated[Literal["upheld", "rejected"], typer.Argument(show_default=False)],
    text: Text,
    as_json: AsJson = False,
) -> None:
    """Give the verdict, with its reasons."""
    from domain.disputes.commands import GiveVerdict
    from services.cli.reviewing import written

    said = written(text)
    _command(
        dispute,
        lambda at_ms, who, seal: GiveVerdict(at_ms=at_ms, reviewer=who, outcome=outcome, text=seal(said)),
        as_json,
        writes=True,
    )


@app.command()
def preview(dispute: DisputeId, as_json: AsJson = False) -> None:
    """What a correction would come to, for those who sign it."""
    from services.cli import output, running
    from services.cli.reviewing import previewed

    found = running.run(previewed(running.settings(), dispute))
    if as_json:
        output.print_json(found)
        return
    ground = "the result by the rules" if found.basis == "rules" else "all antes and top-ups back"
    print(f"hand {found.hand_id}: {ground}; the table {'goes on' if found.resumes else 'stays halted'}")
    rows: list[tuple[str, str, str, str]] = [
        (p.player, output.amount(p.due), output.amount(p.moved), p.to) for p in found.players
    ]
    rows += [("bank", output.amount(found.bank_due), output.amount(found.bank_moved), "bank")]
    rows += [("commission", output.amount(found.commission_due), "", "house")]
    output.print_table(("who", "due", "moved", "to"), rows, numbers=("due", "moved"))


@app.command()
def drop(dispute: DisputeId, proposal: Proposal, as_json: AsJson = False) -> None:
    """Decline a proposal."""
    from domain.disputes.commands import Drop

    _command(dispute, lambda at_ms, who, _: Drop(at_ms=at_ms, reviewer=who, proposal=proposal), as_json)


@app.command()
def close(dispute: DisputeId, as_json: AsJson = False) -> None:
    """Close a dispute that is judged."""
    from domain.disputes.commands import Close

    _command(dispute, lambda at_ms, who, _: Close(at_ms=at_ms, reviewer=who), as_json)


def _command(dispute: str, make: Make, as_json: bool, *, writes: bool = False) -> None:
    from services.cli import running
    from services.cli.reviewing import commanded

    _said(running.run(commanded(running.settings(), dispute, make, writes=writes)), as_json)


def _said(answer: object, as_json: bool) -> None:
    from services.cli.output import print_json
    from services.disputes.types import DisputeAnswer

    assert isinstance(answer, DisputeAnswer)
    if as_json:
        print_json(answer)
    else:
        about = "" if answer.proposal is None else f", proposal {answer.proposal}"
        print(f"dispute {answer.dispute_id}: {answer.phase}{about}")
