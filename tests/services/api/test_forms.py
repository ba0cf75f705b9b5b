"""R3, R7: a reason and a text say something that a reader can see."""

from __future__ import annotations

import msgspec
import pytest

from services.api.forms import Text, Writing
from services.api.problems import problem_of

BLANK = [
    "",
    " ",
    "x",
    "ab",
    " " * 200,
    "\u200b" * 5,
    "a\u200bb\u200b",
    "\u2060\ufeff\u00ad\u3164",
    "\U000e0041" * 4,
    "a  b ",
]


@pytest.mark.parametrize("form", [Text, Writing])
@pytest.mark.parametrize("text", BLANK)
def test_what_shows_fewer_than_three_characters_is_told_in_words(form: type[str], text: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(text, form)
    shown, _ = problem_of(refused.value)
    assert (shown.status, "regex" in shown.detail) == (422, False)


@pytest.mark.parametrize("form", [Text, Writing])
@pytest.mark.parametrize("text", ["abc", " a b c", "по просьбе игрока", "\u200babc", "三張牌", "x" * 200])
def test_what_shows_three_is_taken(form: type[str], text: str) -> None:
    assert msgspec.convert(text, form) == text


def test_a_text_has_lines_and_a_reason_one() -> None:
    assert msgspec.convert("a\nb\nc", Writing) == "a\nb\nc"
    for form, text in (
        (Text, "abc\ndef"),
        (Text, "abc\n"),
        (Writing, "\n\n\nab"),
        (Text, "abc\u202e"),
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(text, form)
