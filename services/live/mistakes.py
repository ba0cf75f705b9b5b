"""What may be logged of a mistake of ours: where it happened, not its message, since an assertion's may hold cards."""

from __future__ import annotations

import traceback
from typing import Any

DEPTH = 12


def told(error: BaseException) -> dict[str, Any]:
    """The facts for a log entry: the error's type, and the innermost places of its traceback."""
    places = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)][-DEPTH:]
    return {"error": type(error).__name__, "where": places}
