"""The row changes of a batch, brought together so that each row is written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from infra.projection_store import RowWrite, Shape
from infra.projection_store.types import Kind
from projections.engine.types import Add, CannotApply, Change, Delete, Insert, Put, Update

Key = tuple[Any, ...]
Pending = tuple[Kind, Mapping[str, Any]]


class Writes:
    """The pending write of each row, by table and primary key. `shapes` are the projection's tables."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        self._columns = {table: frozenset(shape.columns) for table, shape in shapes.items()}
        self._pending: dict[str, dict[Key, Pending | None]] = {table: {} for table in shapes}

    def add(self, changes: Sequence[Change]) -> None:
        """Take in the changes of one event, all of them or, where one raises, none."""
        undo: list[tuple[str, Key, Pending | None]] = []
        try:
            for change in changes:
                pending = self._pending[change.table]
                key = self._key(change)
                before = pending.get(key)
                undo.append((change.table, key, before))
                pending[key] = self._merged(before, change)
        except BaseException:
            for table, key, before in reversed(undo):
                self._pending[table][key] = before
            raise

    def _key(self, change: Change) -> Key:
        values = change.row if isinstance(change, Insert | Put) else change.key
        return tuple([values[column] for column in self._shapes[change.table].key])

    def _merged(self, before: Pending | None, change: Change) -> Pending | None:
        """One write that does what `before` and then `change` do."""
        kind, values = before if before is not None else (None, {})
        assert (kind == "add") == isinstance(change, Add) or kind is None, f"{change.table} is added to and written"
        match change:
            case Insert(row=row):
                self._check_whole(change.table, row)
                if kind in ("insert", "put"):
                    raise CannotApply("rejected", f"{change.table} has a row with this key already")
                return ("put" if kind == "delete" else "insert"), row
            case Put(row=row):
                self._check_whole(change.table, row)
                return ("insert" if kind == "insert" else "put"), row
            case Update(key=key, values=new):
                if kind == "delete":
                    return before
                return (kind or "update"), {**values, **key, **new}
            case Add(key=key, amounts=amounts):
                return "add", {**values, **key, **{c: values.get(c, 0) + amount for c, amount in amounts.items()}}
            case Delete(key=key):
                return None if kind == "insert" else ("delete", key)
            case _:
                assert_never(change)

    def _check_whole(self, table: str, row: Mapping[str, Any]) -> None:
        columns = self._columns[table]
        assert row.keys() == columns, f"{table} has the columns {sorted(columns)}, not {tuple(row)}"

    def statements(self) -> list[RowWrite]:
        """The rows to write, together where they are of one table and kind and hold the same columns."""
        groups: dict[tuple[str, Kind, tuple[str, ...]], list[Mapping[str, Any]]] = {}
        for table, pending in self._pending.items():
            for write in pending.values():
                if write is not None:
                    kind, row = write
                    groups.setdefault((table, kind, tuple(row)), []).append(row)
        return [RowWrite(table, kind, columns, rows) for (table, kind, columns), rows in groups.items()]
