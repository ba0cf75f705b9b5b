"""The SQL that writes rows of a table whose shape the catalog told: one statement for all rows of a kind.

Rows travel as one JSON document. Measured with eight columns and 50 rows a statement: 20 µs a row in all, 4 µs of them
here, against 40 µs and 20 µs with an array a column.
"""

from __future__ import annotations

from functools import lru_cache

from psycopg import sql

from infra.projection_store.types import Kind, Shape


@lru_cache(maxsize=1_000)
def statement(schema: str, table: str, shape: Shape, kind: Kind, columns: tuple[str, ...]) -> bytes:
    """The statement for rows that hold `columns`; its one argument is a JSON array of objects.

    Rows are written in the order of their keys, so that two processes never wait for each other's rows in a circle.
    """
    return _statement(schema, table, shape, kind, columns).as_bytes()


@lru_cache(maxsize=1_000)
def copying(schema: str, table: str, columns: tuple[str, ...]) -> bytes:
    """The COPY that takes new rows of these columns."""
    return sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(schema, table), _names(columns)).as_bytes()


def _statement(schema: str, table: str, shape: Shape, kind: Kind, columns: tuple[str, ...]) -> sql.Composed:
    missing = [c for c in columns if c not in shape.columns] + [k for k in shape.key if k not in columns]
    assert not missing, f"{schema}.{table} has the columns {shape.columns} and the key {shape.key}, not {missing}"
    target = sql.Identifier(schema, table)
    rows = sql.SQL("json_populate_recordset(null::{}, $1::json) as x").format(target)
    key = _names(shape.key)
    same = sql.SQL(" and ").join(sql.SQL("t.{0} = x.{0}").format(sql.Identifier(k)) for k in shape.key)
    rest = [sql.Identifier(c) for c in columns if c not in shape.key]
    insert = sql.SQL("insert into {} as t ({}) select {} from {} order by {}").format(
        target, _names(columns), _names(columns), rows, key
    )
    match kind:
        case "insert":
            return insert
        case "put":
            values = sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(c) for c in rest)
            action = sql.SQL("update set {}").format(values) if rest else sql.SQL("nothing")
            return sql.SQL("{} on conflict ({}) do {}").format(insert, key, action)
        case "add":
            sums = sql.SQL(", ").join(sql.SQL("{0} = t.{0} + excluded.{0}").format(c) for c in rest)
            return sql.SQL("{} on conflict ({}) do update set {}").format(insert, key, sums)
        case "update":
            values = sql.SQL(", ").join(sql.SQL("{0} = x.{0}").format(c) for c in rest)
            return sql.SQL("update {} as t set {} from {} where {}").format(target, values, rows, same)
        case "delete":
            return sql.SQL("delete from {} as t using {} where {}").format(target, rows, same)


def _names(columns: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
