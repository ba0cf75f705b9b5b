"""The benchmark of verifying measures what it says: a log that is whole and sealed, beside the same bytes."""

import json

import pytest

from services.cli.entry import run


def test_verify_says_how_it_compares_to_plain_hashing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "verify", "--events", "6000", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["name"], list(report["ratio"])) == ("verify", ["1"])
    (row,) = report["rows"]
    assert row["events"] == 6_000
    assert row["bytes"] > 6_000 * 200
    assert report["ratio"]["1"] == row["ratio"] > 0
