"""A projection folded over a log in memory, by the plainest means: what its rows must be equal to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import msgspec
import psycopg
from psycopg import sql

from infra.projection_store import Shape
from projections.engine.types import Add, Delete, Insert, Projection, Put, Recorded, Update

Rows = dict[str, dict[tuple[Any, ...], dict[str, Any]]]
"""Table → primary key → row."""


def fresh_fold(projection: Projection[Any], shapes: Mapping[str, Shape], log: Iterable[Recorded]) -> Rows:
    """The rows after `log`."""
    states: dict[str, Any] = {}
    rows: Rows = {table: {} for table in shapes if table != "stream_state"}
    for recorded in log:
        if type(recorded.event) not in projection.handles or not recorded.stream.startswith(projection.streams):
            continue
        state = states.get(recorded.stream, projection.initial)
        states[recorded.stream], changes = projection.step(state, recorded)
        for change in changes:
            _apply(rows[change.table], shapes[change.table].key, change)
    return rows


def _plain(values: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(values))


def _apply(table: dict[tuple[Any, ...], dict[str, Any]], key: tuple[str, ...], change: Any) -> None:
    values = _plain(change.row if isinstance(change, Insert | Put) else change.key)
    at = tuple(values[column] for column in key)
    match change:
        case Insert():
            assert at not in table, f"{at} is there already"
            table[at] = values
        case Put():
            table[at] = values
        case Update(values=new):
            if at in table:
                table[at].update(_plain(new))
        case Add(amounts=amounts):
            row = table.setdefault(at, {**values})
            for column, amount in amounts.items():
                row[column] = row.get(column, 0) + amount
        case Delete():
            table.pop(at, None)
        case _:
            assert_never(change)


def stored_rows(url: str, schema: str, shapes: Mapping[str, Shape]) -> Rows:
    """The rows as they stand in Postgres."""
    found: Rows = {}
    with psycopg.connect(url) as connection:
        for table, shape in shapes.items():
            if table == "stream_state":
                continue
            query = sql.SQL("select row_to_json(t) from {} t").format(sql.Identifier(schema, table))
            rows = [row for (row,) in connection.execute(query)]
            found[table] = {tuple(row[column] for column in shape.key): row for row in rows}
    return found
