"""What is printed in tables can be read and copied whole, whatever the terminal's width."""

from __future__ import annotations

import pytest

from services.cli.output import print_table, several

ID = "table-01a22ac6-96c0-7031-9a18-37a85191d46f"


@pytest.mark.parametrize("columns", ["20", "80", "200"])
def test_ids_and_amounts_stay_whole(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the width came out too small, and each such cell lost its last characters without a sign."""
    monkeypatch.setenv("COLUMNS", columns)
    rows = [
        (f"2026-11-30T05:42:25.12{n}Z", ID, "a sentence of some length, which may be broken", "1\u202f590.40")
        for n in (1, 2)
    ]
    print_table(("when", "stream", "why", "uncovered"), rows, numbers=("uncovered",))
    said = capsys.readouterr().out
    for row in rows:
        assert row[0] in said
    assert said.count(ID) == said.count("1\u202f590.40") == 2
    assert "uncovered" in said
    for word in ["a", "sentence", "of", "some", "length,", "which", "may", "be", "broken"]:
        assert word in said


def test_one_is_one() -> None:
    assert (several(1, "hand"), several(2, "hand"), several(0, "hand")) == ("1 hand", "2 hands", "0 hands")
    assert several(12_345, "event") == "12,345 events"
