"""Work that goes on for as long as the process: what fails in it is told of, and it begins anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from infra.faults import Fault

RETRY_S = 1.0
LASTING = frozenset({"log_restored", "projection_changed", "store_not_migrated"})
"""Faults that do not pass by waiting: somebody has to do something with all processes stopped."""

log = structlog.get_logger(__name__)


async def kept(what: str, work: Callable[[], Awaitable[None]], retry_s: float = RETRY_S) -> None:
    """Do `work` for ever. A server that is away is waited for, and a mistake of ours ends no other work.

    Raises Fault where it is one of `LASTING`, alone or in a group.
    """
    while True:
        try:
            await work()
        except Exception as error:
            faults = _faults(error)
            for fault in faults or ():
                if fault.code in LASTING:
                    raise fault from None
            if faults is None:
                log.exception("part_failed", what=what)
            else:
                log.warning("part_waits", what=what, faults=[str(fault) for fault in faults])
        await asyncio.sleep(retry_s)


def _faults(error: Exception) -> list[Fault] | None:
    """The faults that an error is made of, or None where something else is among them."""
    if isinstance(error, Fault):
        return [error]
    if not isinstance(error, ExceptionGroup):
        return None
    found: list[Fault] = []
    for each in error.exceptions:
        inner = _faults(each)
        if inner is None:
            return None
        found += inner
    return found
