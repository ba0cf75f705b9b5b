"""A batch's row changes come together into one write a row, which does what they would have done one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from infra.projection_store import RowWrite, Shape
from projections.engine.types import Add, CannotApply, Change, Delete, Insert, Put, Update
from projections.engine.writes import Writes

SHAPES = {"item": Shape(("id", "a", "b"), ("id",)), "tally": Shape(("k", "n", "m"), ("k",))}


def row(number: int, a: Any = 0, b: Any = 0) -> dict[str, Any]:
    """A whole row."""
    return {"id": number, "a": a, "b": b}


def written(*changes: Change) -> list[tuple[str, list[dict[str, Any]]]]:
    """The kinds and rows of what is written for `changes`."""
    writes = Writes(SHAPES)
    for change in changes:
        writes.add([change])
    return [(each.kind, [dict(r) for r in each.rows]) for each in writes.statements()]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([Insert("item", row(1))], [("insert", [row(1)])]),
        ([Insert("item", row(1)), Update("item", {"id": 1}, {"a": 5})], [("insert", [row(1, 5)])]),
        ([Insert("item", row(1)), Put("item", row(1, 2))], [("insert", [row(1, 2)])]),
        ([Insert("item", row(1)), Delete("item", {"id": 1})], []),
        (
            [Insert("item", row(1)), Delete("item", {"id": 1}), Insert("item", row(1, 3))],
            [("insert", [row(1, 3)])],
        ),
        ([Put("item", row(1)), Update("item", {"id": 1}, {"b": 9})], [("put", [row(1, 0, 9)])]),
        ([Put("item", row(1)), Delete("item", {"id": 1})], [("delete", [{"id": 1}])]),
        (
            [Update("item", {"id": 1}, {"a": 5}), Update("item", {"id": 1}, {"b": 6})],
            [("update", [row(1, 5, 6)])],
        ),
        ([Update("item", {"id": 1}, {"a": 5}), Put("item", row(1))], [("put", [row(1)])]),
        ([Update("item", {"id": 1}, {"a": 5}), Delete("item", {"id": 1})], [("delete", [{"id": 1}])]),
        ([Delete("item", {"id": 1}), Insert("item", row(1))], [("put", [row(1)])]),
        # An update meets no row here, or the insert is one too many and Postgres says so.
        ([Update("item", {"id": 1}, {"a": 5}), Insert("item", row(1))], [("insert", [row(1)])]),
        ([Delete("item", {"id": 1}), Update("item", {"id": 1}, {"a": 5})], [("delete", [{"id": 1}])]),
        (
            [Add("tally", {"k": "x"}, {"n": 1}), Add("tally", {"k": "x"}, {"n": -3, "m": 2})],
            [("add", [{"k": "x", "n": -2, "m": 2}])],
        ),
    ],
)
def test_changes_of_one_row_become_one_write(changes: list[Change], expected: Any) -> None:
    assert written(*changes) == expected


def test_a_second_insert_is_rejected_and_the_event_leaves_nothing() -> None:
    writes = Writes(SHAPES)
    writes.add([Insert("item", row(1))])
    with pytest.raises(CannotApply, match="rejected"):
        writes.add([Put("item", row(2)), Update("item", {"id": 1}, {"a": 7}), Insert("item", row(1))])
    assert writes.statements() == [RowWrite("item", "insert", ("id", "a", "b"), [row(1)])]


@pytest.mark.parametrize(
    "changes",
    [
        [Insert("item", {"id": 1, "a": 2})],
        [Put("item", {"id": 1, "a": 2, "c": 3})],
        [Add("tally", {"k": "x"}, {"n": 1}), Put("tally", {"k": "x", "n": 1, "m": 1})],
        [Delete("tally", {"k": "x"}), Add("tally", {"k": "x"}, {"n": 1})],
    ],
)
def test_half_rows_and_rows_both_added_to_and_written_are_our_mistake(changes: list[Change]) -> None:
    with pytest.raises(AssertionError):
        written(*changes)


def test_together_they_do_what_they_do_one_by_one() -> None:
    """Random changes to few rows, in batches of random size, on top of what stands there."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(300):
        single: dict[int, dict[str, Any]] = {}
        batched: dict[int, dict[str, Any]] = {}
        for _ in range(rng.randint(1, 4)):
            writes = Writes(SHAPES)
            for _ in range(rng.randint(1, 8)):
                change = _random(rng, single)
                writes.add([change])
                _apply(single, change)
            for write in writes.statements():
                _write(batched, write)
            assert batched == single, f"seed {seed}"


def _random(rng: random.Random, rows: dict[int, Any]) -> Change:
    number = rng.randrange(3)
    kinds = ["put", "update", "delete"] + (["insert"] * 3 if number not in rows else [])
    match rng.choice(kinds):
        case "insert":
            return Insert("item", row(number, rng.random(), rng.random()))
        case "put":
            return Put("item", row(number, rng.random(), rng.random()))
        case "update":
            return Update("item", {"id": number}, {rng.choice("ab"): rng.random()})
        case _:
            return Delete("item", {"id": number})


def _apply(rows: dict[int, dict[str, Any]], change: Change) -> None:
    match change:
        case Insert(row=values) | Put(row=values):
            rows[values["id"]] = dict(values)
        case Update(key=key, values=values):
            if key["id"] in rows:
                rows[key["id"]].update(values)
        case Delete(key=key):
            rows.pop(key["id"], None)
        case _:
            raise AssertionError(change)


def _write(rows: dict[int, dict[str, Any]], write: RowWrite) -> None:
    """As the statement of its kind does."""
    for values in write.rows:
        number = values["id"]
        match write.kind:
            case "insert":
                assert number not in rows, "the key is there"
                rows[number] = dict(values)
            case "put":
                rows[number] = dict(values)
            case "update":
                if number in rows:
                    rows[number].update(values)
            case "delete":
                rows.pop(number, None)
            case _:
                raise AssertionError(write)
