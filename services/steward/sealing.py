"""The schedule of checkpoints: one so long after the last, where there is something new. Source: DESIGN "Audit"."""

from __future__ import annotations

import asyncio

import structlog

from infra.audit import Checkpoints
from infra.clock import Clock
from infra.faults import Fault

AGAIN_S = 5.0
LATER_S = 60.0
log = structlog.get_logger(__name__)


class Sealing:
    """`run` until cancelled. Where several run, whoever is first seals and the others wait for the next time."""

    def __init__(self, checkpoints: Checkpoints, clock: Clock, interval_s: int) -> None:
        self._checkpoints = checkpoints
        self._clock = clock
        self._interval_s = interval_s

    async def run(self) -> None:
        """Seal on schedule. A store that is away is waited for."""
        while True:  # a clock, not a wait for somebody
            wait_s = await self.look()
            await asyncio.sleep(wait_s)

    async def look(self) -> float:
        """Seal where it is time; after how many seconds to look again."""
        try:
            latest = await self._checkpoints.latest()
            now_ms = self._clock.now_ms()
            due_ms = latest.at_ms + self._interval_s * 1_000 if latest else now_ms
            if due_ms > now_ms:
                return (due_ms - now_ms) / 1_000
            made = await self._checkpoints.seal(now_ms)
            if made is not None:
                log.info("sealed", checkpoint=made.number, hash=made.hash.hex())
            return float(self._interval_s)
        except Fault as fault:
            log.warning("sealing_waits", fault=str(fault))
            return AGAIN_S
        except Exception:  # whatever is wrong with the checkpoints, the game goes on
            log.exception("sealing_failed")
            return LATER_S
