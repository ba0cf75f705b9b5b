"""What is done to the service, and when: made from a seed alone, before anything runs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct

Kind = Literal[
    "end_backends",
    "crash_backend",
    "kill_postgres",
    "kill_redis",
    "kill",
    "pause",
    "cut",
    "stall",
    "slow",
    "skew",
    "rebuild",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

DECK: tuple[Kind, ...] = (
    *("end_backends",) * 4,
    *("crash_backend",) * 1,
    *("kill_postgres",) * 2,
    *("kill_redis",) * 2,
    *("kill",) * 6,
    *("pause",) * 5,
    *("cut",) * 4,
    *("stall",) * 3,
    *("slow",) * 3,
    *("skew",) * 4,
    *("rebuild",) * 2,
)
"""How often each kind comes among the others, once all have come once."""

FIRST_MS = 1_000
GAP_MS = (200, 1_600)
"""From one act to the next."""
AWAY_MS = (0, 1_500)
"""So long a process that was killed stays away before it is started again."""
PAUSED_MS = (100, 5_000)
"""Past the leases' 3 s and the 2 s after which the rulebook's clock counts as away (T11), too."""
BROKEN_MS = (100, 3_000)
"""A connection that is cut or stalled."""
SLOW_MS = (1_000, 5_000)
DELAY_MS = (5, 300)
SKEWED_MS = (2_000, 10_000)
SKEW_MS = (50, 4_000)
SHARE_PERCENT = (20, 100)
KILLED_MS = (500, 4_000)
"""So long after its start every other rebuild is killed, and begun again."""


class Targets(Struct, frozen=True):
    """What can be hit: our processes, their links to the servers, and the projections, by name."""

    processes: tuple[str, ...]
    links: tuple[str, ...]
    projections: tuple[str, ...]


class Act(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One act, `at_ms` after play began, upon `target` (empty where the kind names it).

    `for_ms`: how long it lasts. `amount`: percent of the back-ends, milliseconds of delay, or of skew.
    """

    at_ms: int
    kind: Kind
    target: str = ""
    for_ms: int = 0
    amount: int = 0


def schedule(seed: int, length_ms: int, targets: Targets) -> tuple[Act, ...]:
    """The acts of a run, in order of time. The same arguments give the same acts, on every machine."""
    chance = random.Random(f"khrap-chaos/1 {seed}")  # noqa: S311 (what a seed must repeat)
    acts: list[Act] = []
    at_ms = FIRST_MS
    for kind in _kinds(chance):
        if at_ms >= length_ms:
            return tuple(acts)
        acts.append(_act(chance, at_ms, kind, targets))
        at_ms += chance.randint(*GAP_MS)
    raise AssertionError("there is no last kind")


def _kinds(chance: random.Random) -> Iterator[Kind]:
    """All kinds once, and then deck after deck."""
    yield from chance.sample(KINDS, len(KINDS))
    while True:
        yield from chance.sample(DECK, len(DECK))


def _act(chance: random.Random, at_ms: int, kind: Kind, targets: Targets) -> Act:
    def among(names: Sequence[str]) -> str:
        return chance.choice(names)

    def between(bounds: tuple[int, int]) -> int:
        return chance.randint(*bounds)

    match kind:
        case "end_backends":
            return Act(at_ms=at_ms, kind=kind, amount=between(SHARE_PERCENT))
        case "crash_backend" | "kill_postgres" | "kill_redis":
            return Act(at_ms=at_ms, kind=kind)
        case "kill":
            return Act(at_ms=at_ms, kind=kind, target=among(targets.processes), for_ms=between(AWAY_MS))
        case "pause":
            return Act(at_ms=at_ms, kind=kind, target=among(targets.processes), for_ms=between(PAUSED_MS))
        case "cut" | "stall":
            return Act(at_ms=at_ms, kind=kind, target=among(targets.links), for_ms=between(BROKEN_MS))
        case "slow":
            delay_ms = between(DELAY_MS)
            return Act(at_ms=at_ms, kind=kind, target=among(targets.links), for_ms=between(SLOW_MS), amount=delay_ms)
        case "skew":
            skew_ms = between(SKEW_MS) * chance.choice((-1, 1))
            target = among(targets.processes)
            return Act(at_ms=at_ms, kind=kind, target=target, for_ms=between(SKEWED_MS), amount=skew_ms)
        case "rebuild":
            killed_ms = between(KILLED_MS) * chance.randint(0, 1)
            return Act(at_ms=at_ms, kind=kind, target=among(targets.projections), for_ms=killed_ms)
