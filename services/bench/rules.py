"""`khrap bench rules`: play by chance, all legal actions asked for, one decided and folded, on one core.

Beside it, by turns: OpenSpiel playing euchre likewise, and PokerKit hold'em, once checked down, as all of ours play to
the end too, and once with what chance picks of fold, call and raise.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from domain.commands import Fresh
from services.bench import others
from services.bench.common import Report, machine, median
from services.bench.selfplay import EVENINGS, SelfPlay, settings_of
from services.bench.turns import Progress, Work, rates

ROUNDS = 5
OURS = "ours"


async def bench_rules(seconds: float, progress: Progress) -> Report:
    """Each case is measured for about `seconds`."""
    chance = random.Random(ROUNDS)  # noqa: S311 (choices at play)
    works: dict[str, Work] = {OURS: _ours()}
    missing: dict[str, str] = {}
    for case, (make, _) in _REFERENCES.items():
        try:
            works[case] = make(chance)
        except others.NotInstalled as error:
            missing[case] = str(error)
    found = rates(works, seconds, ROUNDS, progress)
    rows = [_row(case, found) if case in found else _absent(case, missing[case]) for case in _REFERENCES]
    return Report("rules", machine(), tuple(rows), {row["case"]: row["ratio"] for row in rows if row["ratio"]})


def _ours() -> Work:
    """A hand of each game in turn; the unit is a player's decision."""
    chance = random.Random("rules")  # noqa: S311 (choices at play)
    hands = iter(range(2**48))

    def fresh(at_ms: int) -> Fresh:
        hand_id = f"018f0000-0000-7000-8000-{next(hands):012x}"
        return Fresh(hand_id=hand_id, server_seed=chance.randbytes(32).hex(), key_commitment=64 * "0")

    tables = [SelfPlay(settings_of(evening), game, fresh) for game, evening in EVENINGS.items()]
    for table in tables:
        table.begin()

    def work() -> int:
        before = sum(table.decisions for table in tables)
        for table in tables:
            table.hand()
        return sum(table.decisions for table in tables) - before

    return work


def _openspiel(chance: random.Random) -> Work:
    game = others.euchre()
    return lambda: others.played_euchre(game, chance)


def _pokerkit(_: random.Random) -> Work:
    begin = others.holdem()
    return lambda: others.checked_down(begin)


def _pokerkit_random(chance: random.Random) -> Work:
    begin = others.holdem()
    return lambda: others.played_holdem(begin, chance)


_REFERENCES: dict[str, tuple[Callable[[random.Random], Work], str]] = {
    "openspiel": (_openspiel, "OpenSpiel, euchre, legal_actions and apply_action"),
    "pokerkit": (_pokerkit, "PokerKit, hold'em for six checked down"),
    "pokerkit_random": (_pokerkit_random, "PokerKit, hold'em for six, fold, call or raise by chance"),
}


def _row(case: str, found: dict[str, list[float]]) -> dict[str, Any]:
    return {
        "case": case,
        "actions_per_s": round(median(found[OURS])),
        "reference_per_s": round(median(found[case])),
        "ratio": round(median([one / other for one, other in zip(found[OURS], found[case], strict=True)]), 3),
        "reference": _REFERENCES[case][1],
    }


def _absent(case: str, why: str) -> dict[str, Any]:
    return {"case": case, "actions_per_s": None, "reference_per_s": None, "ratio": None, "reference": why}
