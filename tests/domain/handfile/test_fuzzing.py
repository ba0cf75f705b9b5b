"""H5: whatever is changed in a file, the answer is a clear error or a report, and never a crash or a guess."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, TypeVar

from domain.cards import ALL_CARDS
from domain.handfile import HandFileError, check, from_events, parse, redact, replay, to_json
from tests.domain.hands import events_of, for_seeds, random_hand

T = TypeVar("T")
WORDS = ("khrap", "pass", "look", "draw", "discard", "play", "longing", "ace", "helicopter", "cut_trump", "frap_blind")
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    5,
    2**63,
    2**63 - 1,
    1.5,
    "",
    "x",
    "public",
    "clock",
    [],
    {},
    [None],
    ["As"],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in places(each, (*path, key)))]


def change(rng: random.Random, whole: Any) -> None:
    """One change somewhere in the hand: a value set, taken out, put in twice, or exchanged for its like."""
    *path, last = rng.choice([place for place in places(whole) if place])
    holder = whole
    for step in path:
        holder = holder[step]
    match rng.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.insert(last, rng.choice(holder))
        case 2 if isinstance(holder, list):
            other = rng.randrange(len(holder))
            holder[last], holder[other] = holder[other], holder[last]
        case 3 if isinstance(holder[last], int):
            holder[last] += rng.choice((-1, 1))
        case _ if isinstance(holder[last], str) and rng.random() < 0.8:
            holder[last] = rng.choice(sorted(ALL_CARDS)) if len(holder[last]) == 2 else rng.choice(WORDS)
        case _:
            holder[last] = rng.choice(VALUES)


@for_seeds(150)
def test_h5_any_change_is_answered(seed: int) -> None:
    rng = random.Random(seed)
    file = from_events(events_of(random_hand(seed)))
    if rng.random() < 0.6:
        file = redact(file, rng.choice(("public", *(s.seat for s in file.seats))))
    whole = json.loads(to_json(file))
    for _ in range(rng.choice((1, 1, 3))):
        change(rng, whole)
    data = json.dumps(whole).encode()
    changed = tried(lambda: parse(data))
    if isinstance(changed, HandFileError):
        return
    assert parse(to_json(changed)) == changed
    report = check(changed)
    assert all(problem.message for problem in report.problems)
    shown = tried(lambda: list(replay(changed)))
    assert not isinstance(shown, HandFileError) or str(shown) in {str(problem) for problem in report.problems}


def tried(work: Callable[[], T]) -> T | HandFileError:
    """What `work` gives, or the error that a wrong file is answered with, which says something."""
    try:
        return work()
    except HandFileError as error:
        return error


@for_seeds(100)
def test_h3_any_wrong_figure_is_named(seed: int) -> None:
    """One figure of the result changed is one problem, and it is named."""
    rng = random.Random(seed)
    file = from_events(events_of(random_hand(seed)))
    whole = json.loads(to_json(file))
    i = rng.randrange(len(whole["result"]["players"]))
    field = rng.choice(("seat", "tricks", "share", "commission", "fine_due", "fine_paid", "purse"))
    whole["result"]["players"][i][field] += 1
    (problem,) = check(parse(json.dumps(whole).encode())).problems
    assert problem.field == f"result.players[{i}].{field}"
