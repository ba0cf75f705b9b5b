"""The rebuild benchmark measures what it says, on servers of its own."""

from __future__ import annotations

from services.bench.rebuild import bench_rebuild


async def test_it_reports_ours_and_the_reference_for_each_case() -> None:
    seen: list[str] = []
    report = await bench_rebuild(2_000, lambda done, total, note: seen.append(note), processes=(2,), rounds=1)
    (row,) = report.rows
    assert (report.name, row["case"], row["processes"], row["reference"]) == ("rebuild", "2", 2, "psycopg, msgspec")
    assert row["events"] >= 2_000
    assert row["events_per_s"] > 0 < row["reference_per_s"]
    assert 0 < row["peak_mb"] < 300
    assert report.ratio == {"2": row["ratio"]}
    assert seen[0] == "playing the log"
    assert seen[-1] == "rebuilding with 2"
