"""The way back, and the end of what is no longer needed."""

from __future__ import annotations

import asyncio
import time

from infra.faults import Fault
from infra.leases import LEASE_S
from infra.projection_store import Generations

CAUGHT_UP_WITHIN_S = 10.0
LET_GO_WITHIN_S = 3 * LEASE_S
LOOK_S = 0.05


async def roll_back(url: str, name: str) -> tuple[str, str]:
    """Let the generation serve that did before; the schemas that served and serve now. The other goes on following.

    Raises Fault: `projection_missing` where nothing serves or served before, `projection_behind` where that one is not
    kept up and has not passed what the readers have seen.
    """
    async with Generations.open(url) as generations:
        serving = await generations.serving(name)
        if serving is None:
            raise Fault("projection_missing", f"no version of {name} serves: there is nothing to go back from")
        previous = await generations.previous(name)
        if previous is None:
            raise Fault("projection_missing", f"nothing served before {serving.schema}, or it was dropped")
        until = time.monotonic() + CAUGHT_UP_WITHIN_S
        while not await generations.switch(name, previous):
            if time.monotonic() > until:
                kept = await generations.kept(previous)
                why = "is still catching up; try again" if kept else "is kept up by no projector: start one that has it"
                raise Fault("projection_behind", f"{previous} is behind {serving.schema}, and {why}")
            await asyncio.sleep(LOOK_S)
        return serving.schema, previous


async def drop(url: str, name: str) -> list[str]:
    """Drop all generations of a name but the one that serves; their schemas.

    Raises Fault: `projection_missing` where there is none to drop, `rebuild_running` where one is being built.
    """
    async with Generations.open(url) as generations:
        others = [g for g in await generations.all() if g.name == name and not g.serving]
        if not others:
            raise Fault("projection_missing", f"of {name} there is nothing but what serves: nothing to drop")
        if not any(g.name == name and g.serving for g in await generations.all()):
            raise Fault("projection_missing", f"no version of {name} serves yet: there is nothing to drop beside it")
        for each in others:
            if each.state == "building" and await generations.kept(each.schema):
                raise Fault("rebuild_running", f"{each.schema} is being built; wait for it, or stop that process first")
        for each in others:
            await generations.let_go(each.schema)
        until = time.monotonic() + LET_GO_WITHIN_S
        for each in others:
            while await generations.kept(each.schema):
                if time.monotonic() > until:
                    raise Fault("projection_kept", f"a projector does not let go of {each.schema}; try again")
                await asyncio.sleep(LOOK_S)
            await generations.drop(each.schema)
        return [each.schema for each in others]
