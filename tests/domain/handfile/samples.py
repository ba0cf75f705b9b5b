"""Hand files as JSON objects to be changed by a test: a vector by its name, with one change at a path."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[2] / "vectors"

REMOVED = object()
"""Stands for a field that is taken out."""


def vector(game: str, name: str) -> dict[str, Any]:
    """The vector of that name, a fresh copy."""
    for each in json.loads((VECTORS / f"{game}.json").read_text()):
        if each["name"] == name:
            found: dict[str, Any] = each
            return found
    raise KeyError(name)


PLAYED = vector("khrap", "declarer fails with one trick, helper has none, shestok takes three")
SHUFFLED = vector("khrap", "decks by S1-S5, two deals in one hand")
VOIDED = vector("khrap", "voided by ops in the middle of the help circle")
REFUSED = vector("khrap", "a card of the suit led is held and another played")
DREW = vector("frap", "frap, one whist, two tricks each")


def changed(hand: dict[str, Any], path: str, value: Any) -> bytes:
    """The hand as JSON with `value` at `path` (`seats[1].purse`); REMOVED takes the field out."""
    whole = copy.deepcopy(hand)
    steps = [int(i) if i else name for name, i in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]
    inner: Any = whole
    for step in steps[:-1]:
        inner = inner[step]
    if value is REMOVED:
        del inner[steps[-1]]
    elif isinstance(inner, list) and steps[-1] == len(inner):
        inner.append(value)
    else:
        inner[steps[-1]] = value
    return json.dumps(whole).encode()
