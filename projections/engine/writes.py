"""The row changes of a batch, brought together so that each row is written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, assert_never

from infra.projection_store import RowWrite, Shape
from infra.projection_store.types import Kind
from projections.engine.types import Add, CannotApply, Change, Delete, Insert, Put, Row, Update

Key = Any
"""The value of the primary key's one column, or a tuple of several."""
Pending = tuple[Kind, Row]
_WHOLE = (Insert, Put)


class Writes:
    """The pending write of each row, by table and primary key. `shapes` are the projection's tables."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._tables = {table: _Table(shape) for table, shape in shapes.items()}

    def add(self, changes: Sequence[Change]) -> None:
        """Take in the changes of one event, all of them or, where one raises, none."""
        undo: list[tuple[_Table, Key, Pending | None]] = []
        try:
            for change in changes:
                table = self._tables[change.table]
                key = table.key_of(change.row if isinstance(change, _WHOLE) else change.key)
                before = table.pending.get(key)
                undo.append((table, key, before))
                table.pending[key] = table.merged(before, change)
        except BaseException:
            for table, key, before in reversed(undo):
                table.pending[key] = before
            raise

    def statements(self) -> list[RowWrite]:
        """The rows to write, together where they are of one table and kind and hold the same columns."""
        groups: dict[tuple[str, Kind, tuple[str, ...]], list[Row]] = {}
        for name, table in self._tables.items():
            for write in table.pending.values():
                if write is not None:
                    kind, row = write
                    groups.setdefault((name, kind, tuple(row)), []).append(row)
        return [RowWrite(table, kind, columns, rows) for (table, kind, columns), rows in groups.items()]


class _Table:
    """The pending writes of one table."""

    def __init__(self, shape: Shape) -> None:
        self.pending: dict[Key, Pending | None] = {}
        self.key_of: Callable[[Row], Key] = itemgetter(*shape.key)
        self._columns = frozenset(shape.columns)

    def merged(self, before: Pending | None, change: Change) -> Pending | None:
        """One write that does what `before` and then `change` do."""
        kind, values = before or (None, {})
        assert kind is None or (kind == "add") == isinstance(change, Add), f"{change.table} is added to and written"
        # Plain tests, the most frequent first: to match patterns takes four times as long.
        if isinstance(change, Insert):
            self._check_whole(change.table, change.row)
            if kind in ("insert", "put"):
                raise CannotApply("rejected", f"{change.table} has a row with this key already")
            return ("put" if kind == "delete" else "insert"), change.row
        if isinstance(change, Add):
            sums = {**values, **change.key}
            for column, amount in change.amounts.items():
                sums[column] = sums.get(column, 0) + amount
            return "add", sums
        if isinstance(change, Put):
            self._check_whole(change.table, change.row)
            return ("insert" if kind == "insert" else "put"), change.row
        if isinstance(change, Update):
            return before if kind == "delete" else ((kind or "update"), {**values, **change.key, **change.values})
        if isinstance(change, Delete):
            return None if kind == "insert" else ("delete", change.key)
        assert_never(change)

    def _check_whole(self, table: str, row: Row) -> None:
        assert row.keys() == self._columns, f"{table} has the columns {sorted(self._columns)}, not {tuple(row)}"
