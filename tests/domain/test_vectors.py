"""Every vector of the rulebook through the hand file: results to the last field, refusals by code and clause."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.handfile import HandFile, check, parse, replay, split, to_json

VECTORS = Path(__file__).parents[1] / "vectors"


def _vectors() -> list[HandFile]:
    paths = [VECTORS / f"{game}.json" for game in ("khrap", "frap", "khrap5")]
    return [parse(piece.data) for path in paths for piece in split(path.read_bytes())]


ALL = _vectors()


@pytest.mark.parametrize("file", ALL, ids=[f"{f.game}: {f.name}" for f in ALL])
def test_h3_a_vector_holds(file: HandFile) -> None:
    report = check(file)
    assert report.holds, report.problems
    assert report.compared == ("refusal" if file.refusal else "result")
    assert not report.unchecked
    assert report.actions == len(file.actions)
    assert parse(to_json(file)) == file


@pytest.mark.parametrize("file", [f for f in ALL if f.refusal], ids=lambda f: f"{f.game}: {f.name}")
def test_h3_a_refusal_points_to_the_clause(file: HandFile) -> None:
    *before, last = replay(file)
    assert last.refused is not None
    assert file.refusal is not None
    assert (last.refused.code, last.refused.clause) == (file.refusal.code, file.refusal.clause)
    assert not last.events
    assert last.hand == before[-1].hand
    assert last.refused.detail


def test_all_vectors_are_there() -> None:
    counts = {game: sum(f.game == game for f in ALL) for game in ("khrap", "frap", "khrap5")}
    assert counts == {"khrap": 60, "frap": 56, "khrap5": 45}
