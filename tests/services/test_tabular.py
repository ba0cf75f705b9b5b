"""CSV of ours opened in a spreadsheet runs nothing, and says what it said."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.reports import day_of
from services.tabular import cell, to_csv

STARTS = ("=", "+", "-", "@", "\t", "\r")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1+1", "-2+3|cmd"])
def test_what_somebody_wrote_becomes_no_formula(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize(
    ("value", "text"), [(-5, "-5"), (0, "0"), (None, ""), (True, "true"), ("2-1", "2-1"), ("", "")]
)
def test_numbers_stay_numbers(value: object, text: str) -> None:
    assert cell(value) == text


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(rows=st.lists(st.lists(TEXTS, min_size=2, max_size=2)))
def test_every_cell_is_read_back_and_none_begins_as_a_formula(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(to_csv(("a", "b"), rows), newline="")))
    assert read[0] == ["a", "b"]
    for was, found in zip(rows, read[1:], strict=True):
        for text, shown in zip(was, found, strict=True):
            assert not shown.startswith(STARTS)
            assert shown in (text, f"'{text}")


def test_a_day_is_one_of_utc() -> None:
    assert (day_of(0), day_of(20_000)) == ("1970-01-01", "2024-10-04")
