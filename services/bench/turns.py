"""Ours and a reference by turns in one run, so that both meet the same machine."""

from __future__ import annotations

import time
from collections.abc import Callable

Work = Callable[[], int]
"""Does some work; returns how much, in units of its own."""

Progress = Callable[[int, int | None, str], None]


def rate(work: Work, seconds: float) -> float:
    """Units a second, working for about `seconds`; what `work` does before its first unit counts too."""
    begun = time.perf_counter()
    done = 0
    while (taken := time.perf_counter() - begun) < seconds or not done:
        done += work()
    return done / taken


def rates(works: dict[str, Work], seconds: float, turns: int, progress: Progress) -> dict[str, list[float]]:
    """The rate of each work in every turn; each is worked for about `seconds` in all, after a first go uncounted."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for turn in range(turns):
        for number, (name, work) in enumerate(works.items()):
            progress(turn * len(works) + number, turns * len(works), name)
            found[name].append(rate(work, seconds / turns))
    return found
