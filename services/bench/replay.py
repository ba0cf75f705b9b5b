"""`khrap bench replay`: recorded hands from stored bytes, decoded, folded and settled on one core.

Beside it, by turns: msgspec decoding the same bytes, psycopg fetching the rows, OpenSpiel replaying recorded games,
PokerKit playing hands.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from domain.events import CommissionTaken, Event, FinePaid, HandSettled, HandStarted, SharePaid, TableEvent
from domain.evolve_hand import fold, opening
from domain.hand import Over
from domain.settlement import settle
from infra.codec import Codec
from infra.plain_reader import plain_reader
from infra.sealing import Sealer
from services.bench import others
from services.bench.common import Report, machine, median, temporary_home
from services.bench.recorded import Hand, Recorded, record
from services.bench.turns import Progress, Work, rates
from services.core import Core, open_core

ROUNDS = 5
GAMES = 200
"""Recorded games of euchre."""
MONEY: tuple[type[Event], ...] = (SharePaid, CommissionTaken, FinePaid, HandSettled)

OURS = "ours"


class Reference(Struct, frozen=True):
    """What ours is measured beside: what it is, the unit of its rate (an event of ours beside each), its work."""

    name: str
    unit: str
    work: Work


async def bench_replay(hands: int, seconds: float, progress: Progress) -> Report:
    """`hands` recorded hands of the three games; each case for about `seconds`. Raises Fault."""
    with temporary_home() as settings:
        async with open_core(settings) as core:
            recorded = await record(core, hands, lambda done: progress(done, hands, "playing"))
            with plain_reader(core.addresses.application, core.store.parts) as reader:
                references = {
                    "decode": Reference("msgspec decoding the same bytes", "events", _decoding(recorded)),
                    "postgres": Reference(
                        "one psycopg connection fetching the rows", "rows", lambda: reader.fetch(recorded.streams)
                    ),
                }
                missing = _add_others(references)
                works: dict[str, Work] = {OURS: _replaying(core, recorded)}
                works |= {case: reference.work for case, reference in references.items()}
                found = rates(works, seconds, ROUNDS, progress)
    per_hand = recorded.events / len(recorded.hands)
    rows = [_row(case, reference, found, per_hand) for case, reference in references.items()]
    rows += [{**dict.fromkeys(rows[0]), "case": case, "reference": why} for case, why in missing.items()]
    return Report("replay", machine(), tuple(rows), {row["case"]: row["ratio"] for row in rows if row["ratio"]})


def replay(codec: Codec, stored: Hand) -> bool:
    """Decode and fold a hand; whether what settlement makes of it is what was recorded."""
    events = codec.decode_all(stored)
    started = events[0]
    assert isinstance(started, HandStarted), stored[0].type
    paid_from = len(events)
    while isinstance(events[paid_from - 1], MONEY):
        paid_from -= 1
    played = fold(opening(started), events[1:paid_from])
    if paid_from == len(events):
        return isinstance(played.phase, Over)  # voided: nothing is settled
    reckoned = settle(played)
    after = fold(played, events[paid_from:])
    return isinstance(after.phase, Over) and after.phase.result == reckoned


def _replaying(core: Core, recorded: Recorded) -> Work:
    """One time through all hands; the keys that their seals open with are derived anew each time."""

    def work() -> int:
        codec = Codec(Sealer(core.keys.master, core.entropy))
        assert all(map(partial(replay, codec), recorded.hands))
        return recorded.events

    return work


def _decoding(recorded: Recorded) -> Work:
    decoder = msgspec.json.Decoder(TableEvent)
    bodies = [event.body for hand in recorded.hands for event in hand]

    def work() -> int:
        for body in bodies:
            decoder.decode(body)
        return len(bodies)

    return work


def _add_others(references: dict[str, Reference]) -> dict[str, str]:
    """The engines of others, where they are installed; of those that are not, how to have them."""
    missing: dict[str, str] = {}

    def add(case: str, make: Callable[[], Reference]) -> None:
        try:
            references[case] = make()
        except others.NotInstalled as error:
            missing[case] = str(error)

    add("openspiel", _openspiel)
    add("pokerkit", _pokerkit)
    return missing


def _openspiel() -> Reference:
    game = others.euchre()
    recorded = others.recorded_euchre(game, GAMES, random.Random(GAMES))  # noqa: S311 (choices at play)
    name = "OpenSpiel replaying euchre by apply_action"
    return Reference(name, "actions", lambda: others.replayed_euchre(game, recorded))


def _pokerkit() -> Reference:
    begin = others.holdem()

    def work() -> int:
        others.checked_down(begin)
        return 1

    return Reference("PokerKit, hold'em for six checked down", "hands", work)


def _row(case: str, reference: Reference, found: dict[str, list[float]], per_hand: float) -> dict[str, Any]:
    ours = [each / per_hand if reference.unit == "hands" else each for each in found[OURS]]
    theirs = found[case]
    return {
        "case": case,
        "events_per_s": round(median(found[OURS])),
        "hands_per_s": round(median(found[OURS]) / per_hand),
        "reference_per_s": round(median(theirs), 1),
        "unit": reference.unit,
        "ratio": round(median([one / other for one, other in zip(ours, theirs, strict=True)]), 3),
        "reference": reference.name,
    }
