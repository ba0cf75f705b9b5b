"""One hand, a JSON array of hands, or JSON lines: told apart by their shape."""

from __future__ import annotations

import json

import pytest

from domain.handfile import HandFileError, Piece, parse, split
from tests.domain.handfile.samples import DREW, PLAYED

ONE = json.dumps(PLAYED).encode()
TWO = json.dumps(DREW).encode()


def test_one_hand_stands_alone() -> None:
    assert list(split(ONE)) == [Piece("", ONE)]
    pretty = json.dumps(PLAYED, indent=2).encode()
    (piece,) = split(b"\n" + pretty + b"\n\n")
    assert (piece.where, parse(piece.data)) == ("", parse(ONE))


def test_an_array_numbers_its_hands_from_nought() -> None:
    pieces = list(split(b" [" + ONE + b",\n " + TWO + b"]\n"))
    assert [p.where for p in pieces] == ["[0]", "[1]"]
    assert [parse(p.data) for p in pieces] == [parse(ONE), parse(TWO)]


def test_lines_are_numbered_from_one_and_empty_ones_passed_over() -> None:
    pieces = list(split(ONE + b"\r\n\n" + TWO + b"\n"))
    assert [(p.where, p.data) for p in pieces] == [("line 1", ONE), ("line 3", TWO)]


def test_a_broken_line_is_a_piece_of_its_own() -> None:
    pieces = list(split(b'{"half": \n' + TWO))
    assert [p.where for p in pieces] == ["line 1", "line 2"]
    with pytest.raises(HandFileError):
        parse(pieces[0].data)


def test_a_broken_hand_over_many_lines_is_one_piece() -> None:
    broken = json.dumps(PLAYED, indent=1).encode()[:-4]
    assert list(split(broken)) == [Piece("", broken.strip())]


@pytest.mark.parametrize("data", [b"", b" \n", b"[]", b"[1,", b"[" * 100_000], ids=lambda d: repr(d[:10]))
def test_what_holds_no_hand_is_an_error(data: bytes) -> None:
    with pytest.raises(HandFileError):
        list(split(data))
