"""Pages of a list in a stable order: a cursor says after which row the next page begins, not how many rows to skip."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T")


class BadCursor(ValueError):
    """A cursor that is none of ours."""


class Page(Struct, Generic[T], frozen=True):
    """Some rows; `next` is the cursor of the page after it, None where there is none."""

    items: tuple[T, ...]
    next: str | None


def cursor_of(*values: Any) -> str:
    """The cursor that says "after the row with these values"."""
    return base64.urlsafe_b64encode(msgspec.json.encode(values)).decode().rstrip("=")


def values_of(cursor: str, shape: type[T]) -> T:
    """What `cursor` holds, as `shape` (a tuple type). Raises BadCursor."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(text, type=shape)
    except (binascii.Error, ValueError) as error:
        raise BadCursor(f"{cursor[:80]!r} is not a cursor that a list of ours has handed out") from error
