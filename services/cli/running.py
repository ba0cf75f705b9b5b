"""Running what is asynchronous from a command that is not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from infra.settings import Settings, read_settings

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, on a fast loop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def settings(log_level: str = "warning") -> Settings:
    """The settings; logs are configured for a command that is not there to be watched."""
    from infra.telemetry import configure_logs

    found = read_settings()
    configure_logs(log_level)
    return found
