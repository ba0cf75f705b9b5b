"""An answer as JSON or as CSV, by `format` or by what the Accept header prefers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from litestar import Request, Response

from services.reports import Shape
from services.tabular import to_csv

CSV = "text/csv"
NEXT = "Next-Cursor"
"""Where a CSV says how its next page is to be had: JSON has `next` for it."""

Format = Literal["json", "csv"]
Incoming = Request[Any, Any, Any]


def wants_csv(request: Incoming, wanted: Format | None) -> bool:
    """Whether the answer is to be CSV: `format` counts before the header."""
    if wanted is not None:
        return wanted == "csv"
    accepted = [part.split(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return CSV in accepted and "application/json" not in accepted


def tabled(
    request: Incoming, wanted: Format | None, name: str, shape: Shape, rows: Iterable[Any], more: str | None, whole: Any
) -> Response[bytes]:
    """`whole` as JSON, or `rows` as a file `<name>.csv`."""
    if not wants_csv(request, wanted):
        return Response(msgspec.json.encode(whole), media_type="application/json")
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    if more is not None:
        headers[NEXT] = more
    content = to_csv(shape.columns, (shape.cells(row) for row in rows)).encode()
    return Response(content, media_type=CSV, headers=headers)
