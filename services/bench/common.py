"""What all benchmarks print: rows, and how ours stands to the reference of the same run."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from infra.settings import Settings


class Report(Struct, frozen=True):
    """A benchmark's figures. `ratio` is ours to the reference, by case; above 1 means that ours is faster.

    Every row names its case, and under `reference` what it was measured beside.
    """

    name: str
    machine: dict[str, Any]
    rows: tuple[dict[str, Any], ...]
    ratio: dict[str, float]


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def median(values: Sequence[float]) -> float:
    """The middle one; of an even number, the lower of the two."""
    return sorted(values)[(len(values) - 1) // 2]


def percentile(values: Sequence[float], of: float) -> float:
    """The value that `of` (0 to 1) of the values do not pass; 0 where there is none."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * of), len(ordered) - 1)] if ordered else 0.0


@contextmanager
def temporary_home() -> Iterator[Settings]:
    """Settings for embedded servers in a folder of their own, which is gone afterwards: nobody's data is touched."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-bench-"))
    folder.chmod(0o711)  # the servers' user, where root runs this, must pass through it
    try:
        yield Settings(home=str(folder), log_level="error")
    finally:
        shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
