"""Cursors as they come back: checked before they reach a query, since anybody may send any."""

from __future__ import annotations

from typing import Any

from projections.paging import BadCursor, values_of
from services.api.problems import Rejection


def check_cursor(cursor: str | None, shape: Any) -> None:
    """Raises Rejection unless it holds what a cursor of this list holds."""
    if cursor is None:
        return
    try:
        values_of(cursor, shape)
    except BadCursor:
        raise Rejection("invalid", "cursor: send `next` of the page before as it was, or none") from None
