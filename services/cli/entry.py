"""The entry of the console script: runs the command, and turns what went wrong into one line and an exit code."""

from __future__ import annotations

import asyncio
import sys

from infra.faults import Fault
from services.cli.exits import CANNOT, HOLDS, INTERRUPTED, TERMINATED


def main() -> None:
    """Run `khrap` with the process's arguments, and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    try:
        from services.cli.app import app  # takes half a second, in which Ctrl-C may come, too

        app(arguments, prog_name="khrap")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else CANNOT if done.code else HOLDS
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    except Fault as fault:
        return _say(fault)
    except BaseExceptionGroup as group:
        first = _only_fault(group)
        if first is None:
            raise
        return _say(first)
    return HOLDS


def _say(fault: Fault) -> int:
    print(f"error: {fault.detail}", file=sys.stderr)
    return CANNOT


def _only_fault(group: BaseExceptionGroup[BaseException]) -> Fault | None:
    """The first fault of a group that holds nothing else: tasks that failed together say it once."""
    faults, others = group.split(Fault)
    if others is not None or faults is None:
        return None
    first: BaseException = faults
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, Fault) else None
