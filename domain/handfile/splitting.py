"""Bytes that hold many hands → the bytes of each. Source: DESIGN "The command line"."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from domain.handfile.file import HandFileError


class Piece(Struct, frozen=True):
    """One hand's JSON, and where it stands: `[3]` of an array (from 0), `line 7` (from 1), empty where it is alone."""

    where: str
    data: bytes


def split(data: bytes) -> Iterator[Piece]:
    """The hands of a stream: one hand, a JSON array of hands, or JSON lines, told apart by their shape.

    Raises HandFileError for bytes that are none of these; whether a piece is a hand is for `parse`.
    """
    text = data.strip()
    if not text:
        raise HandFileError("", "empty; one hand, a JSON array of hands, or JSON lines would be right")
    if text.startswith(b"["):
        yield from _of_array(text)
    elif _is_json(text):
        yield Piece("", text)
    else:
        yield from _of_lines(data, text)


def _of_array(text: bytes) -> Iterator[Piece]:
    try:
        pieces = msgspec.json.decode(text, type=list[Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HandFileError("", f"not a JSON array: {error}") from None
    if not pieces:
        raise HandFileError("", "an array without a hand in it")
    for i, piece in enumerate(pieces):
        yield Piece(f"[{i}]", bytes(piece))


def _of_lines(data: bytes, text: bytes) -> Iterator[Piece]:
    """A broken file of one hand is one piece, too: so that its error is told once, not line by line."""
    lines = [(number, line.strip()) for number, line in enumerate(data.split(b"\n"), start=1)]
    if not any(line.startswith(b"{") and line.endswith(b"}") and _is_json(line) for _, line in lines):
        yield Piece("", text)
        return
    for number, line in lines:
        if line:
            yield Piece(f"line {number}", line)


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
