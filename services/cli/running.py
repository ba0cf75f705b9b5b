"""Running what is asynchronous from a command that is not."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from infra.settings import Settings, read_settings

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, on a fast loop. SIGTERM ends it as Ctrl-C does: what it has started is stopped first."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_ending_on_sigterm(work))


async def _ending_on_sigterm(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def settings(log_level: str = "warning") -> Settings:
    """The settings; logs are configured for a command that is not there to be watched."""
    from infra.telemetry import configure_logs

    found = read_settings()
    configure_logs(log_level)
    return found
