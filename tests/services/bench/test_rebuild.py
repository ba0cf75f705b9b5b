"""The rebuild benchmark measures what it says, on servers of its own."""

from __future__ import annotations

from projections.catalogue import PROJECTIONS
from services.bench.rebuild import bench_rebuild


async def test_it_reports_ours_and_the_reference_for_each_case() -> None:
    seen: list[str] = []
    report = await bench_rebuild(2_000, lambda done, total, note: seen.append(note), processes=(2,), rounds=1)
    row, status = report.rows
    assert (report.name, row["case"], row["processes"], row["reference"]) == ("rebuild", "2", 2, "psycopg, msgspec")
    assert row["events"] >= 2_000
    assert row["events_per_s"] > 0 < row["reference_per_s"]
    assert 0 < row["peak_mb"] < 300
    assert (status["case"], status["projections"], status["events"]) == ("status", len(PROJECTIONS) + 1, row["events"])
    assert status["p50_ms"] > 0 < status["reference_p50_ms"]
    assert report.ratio == {"2": row["ratio"], "status": status["ratio"]}
    assert seen[0] == "playing the log"
    assert seen[-2:] == ["rebuilding with 2", "building all, to ask for their status"]
