"""What a JSON decoder says of a wrong file, said as a field's path and what would be right. Source: rulebook H5."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import inspect

from domain.handfile.file import HandFileError
from domain.money import MAX_AMOUNT

_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (?P<fault>missing required|contains unknown) field `(?P<name>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def explained(complaint: str, shape: Any, below: str = "") -> HandFileError:
    """The error for msgspec's `complaint` about data of the type `shape` that stands at the path `below`."""
    at = _AT.match(complaint)
    assert at is not None
    what, path = at["what"], at["path"] or ""
    known = _fields(shape, path)
    field = _FIELD.match(what)
    if field is not None:
        path = f"{path}.{field['name']}"
        what = "missing" if field["fault"].startswith("missing") else f"unknown field; known are {', '.join(known)}"
    elif what.startswith("Invalid enum value"):
        choices = " or ".join(repr(v) for v in _values(_type_at(shape, path)))
        what = f"{what.removeprefix('Invalid enum value ')} is not right; it must be {choices}"
    elif what.endswith("out of range"):
        what = f"expected int <= {MAX_AMOUNT}"
    else:
        what = what[0].lower() + what[1:].replace("`", "")
    return HandFileError((below + path).removeprefix("."), what)


def _type_at(shape: Any, path: str) -> inspect.Type:
    """The type that stands at `path` of `shape`."""
    found = inspect.type_info(shape)
    for name, _ in _STEP.findall(path):
        for kind in _alternatives(found):
            if name and isinstance(kind, inspect.StructType):
                found = next(f.type for f in kind.fields if f.encode_name == name)
            elif not name and isinstance(kind, inspect.VarTupleType):
                found = kind.item_type
    return found


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _values(kind: inspect.Type) -> list[Any]:
    return [v for k in _alternatives(kind) if isinstance(k, inspect.LiteralType) for v in k.values]


def _fields(shape: Any, path: str) -> list[str]:
    kinds = _alternatives(_type_at(shape, path))
    return [f.encode_name for k in kinds if isinstance(k, inspect.StructType) for f in k.fields]


class _Duplicate(Exception):
    """A key stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _Duplicate


def refuse_duplicate_keys(data: bytes) -> None:
    """H5: a key that stands twice says two things. Raises HandFileError with the path of the second one."""
    try:
        # Numbers were judged already; here they stay text, however long they are.
        json.loads(data, object_pairs_hook=_once, parse_int=str, parse_float=str)
    except _Duplicate:
        whole = json.loads(data, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
        raise HandFileError(_find_duplicate(whole, "") or "", "stands twice; a field is given once") from None
    except ValueError as error:
        raise HandFileError("", f"not a JSON object: {error}") from None


class _Pairs(list[tuple[str, Any]]):
    """The fields of a JSON object, in their order, all of them."""


def _find_duplicate(value: Any, path: str) -> str | None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, inner in value:
            here = f"{path}.{key}".removeprefix(".")
            if key in seen:
                return here
            seen.add(key)
            if (found := _find_duplicate(inner, here)) is not None:
                return found
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            if (found := _find_duplicate(inner, f"{path}[{i}]")) is not None:
                return found
    return None
