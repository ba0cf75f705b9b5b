"""The schedule: a function of its seed, with everything in it that can break."""

from __future__ import annotations

from collections import Counter

import msgspec

from services.chaos.schedule import KINDS, Act, Targets, schedule

TARGETS = Targets(
    processes=("api-1", "projector-1", "steward-1"),
    links=("api-1:postgres", "api-1:redis"),
    projections=("ledger", "lobby"),
)
MINUTE_MS = 60_000


def test_the_same_seed_gives_the_same_acts_and_another_one_others() -> None:
    assert schedule(7, MINUTE_MS, TARGETS) == schedule(7, MINUTE_MS, TARGETS)
    assert schedule(7, MINUTE_MS, TARGETS) != schedule(8, MINUTE_MS, TARGETS)


def test_a_schedule_never_changes_under_its_seed() -> None:
    # A seed that failed once is worth nothing when it stands for other acts.
    first = schedule(1, 4_000, TARGETS)
    assert msgspec.json.decode(msgspec.json.encode(first)) == [
        {"at_ms": 1000, "kind": "rebuild", "target": "ledger"},
        {"at_ms": 2385, "kind": "kill", "target": "projector-1", "for_ms": 957},
        {"at_ms": 2663, "kind": "skew", "target": "steward-1", "for_ms": 5745, "amount": -2089},
        {"at_ms": 3418, "kind": "stall", "target": "api-1:postgres", "for_ms": 1699},
        {"at_ms": 3936, "kind": "pause", "target": "api-1", "for_ms": 3159},
    ]


def test_a_shorter_run_is_the_beginning_of_a_longer_one() -> None:
    long, short = schedule(3, 3 * MINUTE_MS, TARGETS), schedule(3, MINUTE_MS, TARGETS)
    assert long[: len(short)] == short
    assert long[len(short)].at_ms >= MINUTE_MS


def test_every_kind_comes_once_before_any_comes_twice() -> None:
    for seed in range(20):
        assert {act.kind for act in schedule(seed, MINUTE_MS, TARGETS)[: len(KINDS)]} == set(KINDS)


def test_acts_come_in_order_of_time_and_hit_what_there_is() -> None:
    hit: Counter[str] = Counter()
    for seed in range(20):
        acts = schedule(seed, MINUTE_MS, TARGETS)
        times = [act.at_ms for act in acts]
        assert times == sorted(times)
        assert times[-1] < MINUTE_MS
        for act in acts:
            assert act.target in _right(act)
            hit[act.target] += 1
    assert set(hit) == {"", *TARGETS.processes, *TARGETS.links, *TARGETS.projections}


def _right(act: Act) -> tuple[str, ...]:
    match act.kind:
        case "kill" | "pause" | "skew":
            return TARGETS.processes
        case "cut" | "stall" | "slow":
            return TARGETS.links
        case "rebuild":
            return TARGETS.projections
        case _:
            return ("",)
