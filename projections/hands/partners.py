"""Who was dealt into hands together. Source: rulebook R2."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from infra.projection_store import ProjectionReader

PARTNERS = (Path(__file__).parent / "partners.sql").read_text()


DEALT_INTO = (Path(__file__).parent / "dealt_into.sql").read_text()


class _Hand(Struct, frozen=True):
    hand_id: str


class _Player(Struct, frozen=True):
    player: str


async def partners(
    reader: ProjectionReader, person: str, players: Iterable[str], since_ms: int, until_ms: int
) -> tuple[str, ...]:
    """Those of `players` who were dealt into a hand with `person` that started in that time. Raises Fault."""
    given = {"person": person, "players": list(players), "since_ms": since_ms, "until_ms": until_ms}
    return tuple(row.player for row in await reader.rows("hands", PARTNERS, given, _Player))


async def dealt_into(reader: ProjectionReader, person: str, hands: Iterable[str]) -> frozenset[str]:
    """Those of `hands` that `person` was dealt into. Raises Fault."""
    given = {"person": person, "hands": list(hands)}
    return frozenset(row.hand_id for row in await reader.rows("hands", DEALT_INTO, given, _Hand))
