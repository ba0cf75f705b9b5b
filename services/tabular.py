"""Rows as CSV (RFC 4180), safe to open in a spreadsheet: nothing that somebody wrote can become a formula there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the beginning of a formula, in wide forms too."""


def cell(value: object) -> str:
    """A cell. Numbers are numbers; a text that a spreadsheet may take for a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text.startswith(FORMULA) else text


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A header and the rows, every text quoted."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(value) for value in row])
    return out.getvalue()
