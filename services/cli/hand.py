"""`khrap hand`: hand files checked and shown; no store is needed. Source: rulebook H, DESIGN "The command line"."""

from __future__ import annotations

import gzip
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from domain.cards import Card
from domain.evolve import evolve
from domain.evolve_hand import evolve_hand
from domain.hand import Hand
from domain.handfile import (
    Finding,
    HandFile,
    HandFileError,
    Report,
    Step,
    check,
    check_shuffles,
    holds_shuffles,
    parse,
    parse_shuffles,
    replay,
    split,
)
from domain.telling import Line, Telling
from services.cli.exits import CANNOT, FAILS, HOLDS
from services.cli.output import amount, print_json, progress, several

if TYPE_CHECKING:
    from services.cli.output import Progress

GZIP = b"\x1f\x8b"


class HandAt(Struct, frozen=True, kw_only=True):
    """A hand that was checked: its file, its place there (`[3]`, `line 7`), its name, and what was found."""

    file: str
    where: str
    name: str
    report: Report

    def __str__(self) -> str:
        place = f"{self.file}{' ' if self.where.startswith('line') else ''}{self.where}"
        return f"{place} ({printable(self.name)})" if self.name else place


def printable(text: str) -> str:
    """Text of a file as it may go to a terminal: no control characters."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def check_files(paths: Sequence[str], as_json: bool = False) -> int:
    """Replay every hand of the files and compare it with its result or refusal; print what was found.

    Returns the exit code: HOLDS, FAILS where a hand does not hold, else CANNOT where a file could not be read.
    """
    begun = time.monotonic()
    unreadable: dict[str, str] = {}
    hands: list[HandAt] = []
    with progress("checking") as show:
        for path in paths:
            try:
                hands += _checked(path, _read(path), show, len(hands))
            except (OSError, EOFError, zlib.error) as error:
                unreadable[path] = getattr(error, "strerror", None) or str(error)
    failed = [hand for hand in hands if not hand.report.holds]
    if as_json:
        print_json(_summary(hands, unreadable, time.monotonic() - begun))
    else:
        _print(hands, failed, unreadable, time.monotonic() - begun)
    return FAILS if failed else CANNOT if unreadable or not hands else HOLDS


def _read(path: str) -> bytes:
    data = Path(path).read_bytes()
    return gzip.decompress(data) if data.startswith(GZIP) else data


def _checked(path: str, data: bytes, show: Progress, before: int) -> Iterator[HandAt]:
    try:
        pieces = list(split(data))
    except HandFileError as error:
        yield HandAt(file=path, where="", name="", report=_broken(error))
        return
    for done, piece in enumerate(pieces, start=1):
        name, report = _one(piece.data)
        yield HandAt(file=path, where=piece.where, name=name, report=report)
        show(before + done, before + len(pieces))


def _one(data: bytes) -> tuple[str, Report]:
    """The name of a hand and what a check finds; the rulebook's file of shuffles has its place here too."""
    try:
        if holds_shuffles(data):
            return "", Report(problems=check_shuffles(parse_shuffles(data)), compared="shuffles")
        file = parse(data)
        return file.name, check(file)
    except HandFileError as error:
        return "", _broken(error)


def _broken(error: HandFileError) -> Report:
    return Report(problems=(Finding(error.field, error.message),))


def _counts(hands: Sequence[HandAt]) -> dict[str, int]:
    held = [hand for hand in hands if hand.report.holds]
    shuffles = [hand for hand in hands if hand.report.compared == "shuffles"]
    return {
        "hands": len(hands) - len(shuffles),
        "held": sum(hand.report.holds and hand.report.compared != "shuffles" for hand in hands),
        "results": sum(hand.report.compared == "result" for hand in held),
        "refusals": sum(hand.report.compared == "refusal" for hand in held),
        "shuffle_files": len(shuffles),
        "nothing_compared": sum(hand.report.compared == "nothing" for hand in held),
        "actions": sum(hand.report.actions for hand in hands),
    }


def _summary(hands: Sequence[HandAt], unreadable: dict[str, str], seconds: float) -> dict[str, object]:
    def found(hand: HandAt, finding: Finding) -> dict[str, str]:
        at = {"file": hand.file, "where": hand.where, "name": hand.name}
        return at | {"field": finding.field, "message": finding.message}

    return _counts(hands) | {
        "problems": [found(hand, each) for hand in hands for each in hand.report.problems],
        "unchecked": [found(hand, each) for hand in hands for each in hand.report.unchecked],
        "unreadable": unreadable,
        "seconds": round(seconds, 3),
    }


def _print(hands: Sequence[HandAt], failed: Sequence[HandAt], unreadable: dict[str, str], seconds: float) -> None:
    for hand in hands:
        for problem in hand.report.problems:
            print(f"{hand}: {problem}")
        for note in hand.report.unchecked:
            print(f"{hand}: not checked: {note}")
    for path, why in unreadable.items():
        print(f"error: {path}: {why}", file=sys.stderr)
    counts = _counts(hands)
    compared = f"{several(counts['results'], 'result')} and {several(counts['refusals'], 'refusal')} compared"
    if counts["shuffle_files"]:
        compared += ", a file of shuffles too"
    if counts["nothing_compared"]:
        compared += f", {counts['nothing_compared']:,} replayed with nothing to compare"
    verdict = "all hold" if hands else "no hand was found"
    if failed:
        verdict = f"{len(failed):,} {'does' if len(failed) == 1 else 'do'} not hold"
    print(f"{several(counts['hands'], 'hand')} in {seconds:.1f} s: {compared}; {verdict}")


def show(file: HandFile, as_json: bool = False) -> int:
    """Print a hand card by card. Returns FAILS, with the reason, where it breaks the rules on the way; else HOLDS."""
    steps: list[Step] = []
    broken: HandFileError | None = None
    try:
        steps.extend(replay(file))
    except HandFileError as error:
        broken = error
    if as_json:
        print_json({"steps": steps, "broken": None if broken is None else str(broken)})
    else:
        _tell(file, steps)
    if broken is not None:
        print(f"error: {broken}", file=sys.stderr)
        return FAILS
    return HOLDS


def show_file(path: str, as_json: bool = False) -> int:
    """As `show`, of every hand in a file."""
    worst = HOLDS
    try:
        for piece in split(_read(path)):
            worst = max(worst, show(parse(piece.data), as_json))
    except HandFileError as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return FAILS
    except (OSError, EOFError, zlib.error) as error:
        print(f"error: {path}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return CANNOT
    return worst


_SUITS = {"s": "♠", "h": "[red]♥[/red]", "d": "[red]♦[/red]", "c": "♣", "?": "?"}


def _card(card: Card) -> str:
    """`Td` as 10♦, in rich's markup."""
    return f"{'10' if card[0] == 'T' else card[0]}{_SUITS[card[1]]}"


def _tell(file: HandFile, steps: Sequence[Step]) -> None:
    from rich.markup import escape

    from services.cli.output import console

    out = console()
    view = "" if file.view is None else ", as all saw it" if file.view == "public" else f", as seat {file.view} saw it"
    out.print(f"[bold]{file.game}[/bold], stake {amount(file.stake)} {escape(printable(file.currency))}{view}")
    if file.name:
        out.print(printable(file.name), style="italic", markup=False)
    for head, text in told(steps):
        out.print(f"  {head:<9} {text}", soft_wrap=True)


def told(steps: Sequence[Step]) -> Iterator[Line]:
    """The hand's events in words, line by line, and what was refused."""
    from rich.markup import escape

    telling = Telling(_card, amount, lambda player: escape(printable(player)))
    hand: Hand | None = None
    for step in steps:
        for event in step.events:
            hand = evolve(None, event, 0).hand if hand is None else evolve_hand(hand, event)
            assert hand is not None
            yield from telling.lines(hand, event)
        if step.refused is not None and step.action is not None:
            yield "refused", f"seat {step.action.seat}: {step.action.do}, {step.refused.detail} ({step.refused.clause})"
