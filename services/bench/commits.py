"""API, steward, and a route more, which tells when each append was committed. For `khrap bench live` alone.

Run as a process: `python -m services.bench.commits`, with the environment of `khrap serve api steward`.
"""

from __future__ import annotations

import time

from litestar import get
from msgspec import Struct

from infra.settings import read_settings
from infra.telemetry import configure_logs
from services.api.operation import Operation, described
from services.api.roles import OPS
from services.core import open_core
from services.runtime import running, spare_collector, told_to_stop

PATH = "/v1/bench/commits"


class Commits(Struct, frozen=True):
    """For each append since the last call: the stream, its last number, and when, by the machine's monotonic clock."""

    commits: list[tuple[str, int, int]]


_noted: list[tuple[str, int, int]] = []


@get(PATH, opt=described(Operation(tag="bench", summary="When what was committed", rule=OPS, answer=Commits)))
async def commits() -> Commits:
    """What was noted since the last call."""
    told = Commits(_noted.copy())
    _noted.clear()
    return told


async def main() -> None:
    """Serve API and steward until told to stop."""
    settings = read_settings()
    configure_logs(settings.log_level)
    with told_to_stop(with_parent=True) as stop:
        async with open_core(settings) as core:
            core.store.on_append(
                lambda heads: _noted.extend((head.stream, head.seq, time.monotonic_ns()) for head in heads)
            )
            async with running(core, ("api", "steward"), host=settings.host, port=settings.port, more=(commits,)):
                spare_collector()
                await stop.wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
