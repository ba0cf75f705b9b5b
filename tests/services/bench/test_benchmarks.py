"""The benchmarks run and print what is asked of them; how fast they are is not judged here."""

import json

import pytest

from services.bench import actions, live
from services.cli.entry import run


def test_load_says_how_ten_hands_and_many_compare(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "load", "--hands", "40", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["name"], list(report["ratio"])) == ("load", ["40"])
    assert [row["hands"] for row in report["rows"]] == [10, 40]
    assert report["rows"][1]["events"] > 3 * report["rows"][0]["events"]
    assert report["machine"]["cores"] >= 1


def test_actions_says_how_they_compare_to_a_no_op(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(actions, "CASES", (2,))
    monkeypatch.setattr(actions, "WARM_UP_S", 0.2)
    assert run(["bench", "actions", "--seconds", "1.5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["name"], list(report["ratio"])) == ("actions", ["2"])
    (row,) = report["rows"]
    assert 0 < row["actions_per_s"] < row["noop_per_s"]
    assert report["ratio"]["2"] == row["ratio"] > 0


def test_live_says_how_long_a_follower_waits_on_the_same_node_and_on_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "TABLES", 4)
    monkeypatch.setattr(live, "WARM_UP_S", 0.2)
    assert run(["bench", "live", "--seconds", "3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["name"], list(report["ratio"])) == ("live", ["same", "other"])
    for row in report["rows"]:
        assert row["messages"] > 3
        assert 0 < row["p50_ms"] <= row["p99_ms"]
        assert row["reference_p50_ms"] > 0
