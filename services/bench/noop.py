"""API, steward, and a route more: a POST that authenticates, reads its JSON, and does nothing. For the benchmark alone.

Run as a process: `python -m services.bench.noop`, with the environment of `khrap serve api steward`.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from msgspec import Struct

from infra.settings import read_settings
from infra.telemetry import configure_logs
from services.api.bodies import ActionBody
from services.api.operation import Operation, described
from services.api.roles import PLAYER
from services.api.writes import decode, idempotency_key
from services.core import open_core
from services.runtime import running, spare_collector, told_to_stop

PATH = "/v1/bench/noop"


class Done(Struct, frozen=True):
    """What the no-op answers."""

    turn: int


@post(
    PATH,
    status_code=200,
    opt=described(Operation(tag="bench", summary="Do nothing", rule=PLAYER, answer=Done, writes=True, body=ActionBody)),
)
async def noop(request: Request[Any, Any, Any]) -> Done:
    """What every write costs before it does anything: the guard, the key, the body."""
    idempotency_key(request)
    return Done(decode(request, await request.body(), ActionBody).turn)


async def main() -> None:
    """Serve API and steward until told to stop."""
    settings = read_settings()
    configure_logs(settings.log_level)
    with told_to_stop(with_parent=True) as stop:
        async with (
            open_core(settings) as core,
            running(core, ("api", "steward"), host=settings.host, port=settings.port, more=(noop,)),
        ):
            spare_collector()
            await stop.wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
