"""Two generations of a projection beside each other: are their rows alike, and where are they not?

Digests are sums over the rows, so the order in which rows come does not matter. They are to find mistakes, ours and the
disk's, and not somebody who looks for two sets of rows with one digest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from infra.projection_store.types import STATES, Difference, Law, Shape
from infra.store.connect import Damaged, reason

SHOWN = 20
"""So many differences a table are told of."""


def compared(
    ours: Mapping[str, Shape], other: Mapping[str, Shape], changes: Collection[str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Table → the columns to compare, and what cannot be though no one said so.

    `changes` are the tables (`entry`) and columns (`entry.clause`) whose rows are meant to differ.
    """
    columns: dict[str, tuple[str, ...]] = {}
    unsaid: list[str] = []
    for table in sorted((ours.keys() | other.keys()) - {STATES, *changes}):
        shape, counterpart = ours.get(table), other.get(table)
        if shape is None or counterpart is None:
            unsaid.append(table)
            continue
        both = [c for c in shape.columns if c in counterpart.columns and f"{table}.{c}" not in changes]
        one = set(shape.columns) ^ set(counterpart.columns)
        unsaid += [f"{table}.{c}" for c in sorted(one) if f"{table}.{c}" not in changes]
        if shape.key != counterpart.key:
            unsaid.append(f"{table} (its key)")
        columns[table] = tuple(both)
    return columns, unsaid


async def digest(
    connection: AsyncConnection[TupleRow], schema: str, tables: Mapping[str, Sequence[str]]
) -> dict[str, tuple[int, int]]:
    """Table → how many rows there are, and their digest over these columns."""
    found = {}
    for table, columns in tables.items():
        text = sql.SQL("select count(*), coalesce(sum(hashtextextended(row({})::text, 0)), 0) from {}").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(schema, table)
        )
        row = await (await connection.execute(text)).fetchone()
        assert row is not None
        found[table] = (int(row[0]), int(row[1]))
    return found


async def digest_as_far(
    connection: AsyncConnection[TupleRow], schema: str, tables: Mapping[str, Sequence[str]]
) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """As `digest`, of the tables that can be read; and what is said of the others."""
    found: dict[str, tuple[int, int]] = {}
    damaged = []
    for table, columns in tables.items():
        try:
            async with connection.transaction():
                found |= await digest(connection, schema, {table: columns})
        except Damaged as error:
            damaged.append(f"{table}: {reason(error)}")
    return found, damaged


async def differences(
    connection: AsyncConnection[TupleRow],
    ours: str,
    other: str,
    table: str,
    columns: Sequence[str],
    key: Sequence[str],
) -> list[Difference]:
    """The first `SHOWN` rows of a table that are not alike in two schemas, column by column, by key."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    text = sql.SQL(
        "select {key_text}, to_jsonb(a), to_jsonb(b)"
        " from (select {names} from {ours}) a full join (select {names} from {other}) b using ({key})"
        " where to_jsonb(a) is distinct from to_jsonb(b) order by {key} limit {shown}"
    ).format(
        key_text=sql.SQL("concat_ws(', ', {})").format(sql.SQL(", ").join(map(sql.Identifier, key))),
        names=names,
        ours=sql.Identifier(ours, table),
        other=sql.Identifier(other, table),
        key=sql.SQL(", ").join(map(sql.Identifier, key)),
        shown=sql.Literal(SHOWN),
    )
    found: list[Difference] = []
    for row_key, mine, theirs in await (await connection.execute(text)).fetchall():
        found.extend(_of_row(table, row_key, mine, theirs))
    return found


def _of_row(table: str, key: str, ours: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> list[Difference]:
    if ours is None or other is None:
        there = None if ours is None else "there"
        counterpart = None if other is None else "there"
        return [Difference(table=table, key=key, column=None, ours=there, other=counterpart)]
    return [
        Difference(table=table, key=key, column=column, ours=_text(ours[column]), other=_text(other[column]))
        for column in ours
        if ours[column] != other[column]
    ]


def _text(value: Any) -> str:
    return "null" if value is None else str(value)


async def broken(connection: AsyncConnection[TupleRow], schema: str, laws: Sequence[Law]) -> list[str]:
    """What breaks the laws, a line each: the law's name, and what it is broken by."""
    lines = []
    for law in laws:
        # The texts are files of our own: nothing of a caller's gets into them.
        text = sql.SQL(law.text).format(schema=sql.Identifier(schema))
        found = await (await connection.execute(text)).fetchmany(SHOWN)
        lines += [f"{law.name}: {', '.join(map(str, row))}" for row in found]
    return lines
