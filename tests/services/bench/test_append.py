"""The append benchmark measures what it says, on servers of its own."""

from __future__ import annotations

import pytest

from infra.faults import Fault
from infra.pgbench import insert_rate
from services.bench.append import bench_append
from tests.conftest import Database


async def test_it_reports_ours_and_the_reference_for_each_case() -> None:
    seen: list[tuple[int, int | None, str]] = []
    report = await bench_append(0.2, lambda *progress: seen.append(progress), callers=(3,))
    (row,) = report.rows
    assert (report.name, row["case"], row["callers"]) == ("append", "3", 3)
    assert row["reference"].startswith("pgbench INSERT")
    assert row["events_per_s"] > 0 < row["reference_per_s"]
    assert report.ratio == {"3": row["ratio"]}
    assert 0 < row["median_ms"] <= row["p99_ms"]
    assert seen == [(0, 1, "3 callers")]


async def test_what_pgbench_complains_of_is_told(database: Database) -> None:
    with pytest.raises(Fault, match="pgbench"):
        await insert_rate(database.owner_url + "_not_there", 1, 1, 100)
