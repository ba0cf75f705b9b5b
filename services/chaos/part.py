"""`python -m services.chaos.part NAME SKEW`: a part as `khrap serve NAME` runs it, by a clock that can be put wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import uvloop

from infra.faults import Fault
from infra.settings import read_settings
from infra.telemetry import configure_logs
from services.chaos.skew import Skew, SkewedClock
from services.runtime import Part, serve

AWAY = 75
"""The exit code (EX_TEMPFAIL) of a start that found the store away for longer than it waits: start it again."""


def main() -> None:
    """Run until told to stop, or until standard input ends."""
    name, skew = sys.argv[1:]
    settings = read_settings()
    configure_logs(settings.log_level)
    clock = SkewedClock(Skew(Path(skew)))
    try:
        uvloop.run(serve(settings, [cast(Part, name)], with_parent=True, clock=clock))
    except Fault as fault:
        if fault.code != "store_unavailable":
            raise
        sys.exit(AWAY)


if __name__ == "__main__":
    main()
