"""A clock that somebody else puts forward and back."""

from __future__ import annotations

from pathlib import Path

from infra.clock import ManualClock
from services.chaos.skew import Skew, SkewedClock


def test_a_skewed_clock_jumps_forward_and_holds_still_rather_than_go_back(tmp_path: Path) -> None:
    real = ManualClock(1_000_000)
    ours, theirs = Skew(tmp_path / "skew"), Skew(tmp_path / "skew")
    clock = SkewedClock(theirs, real)
    assert clock.now_ms() == 1_000_000
    ours.offset_ms = 4_000
    assert clock.now_ms() == 1_004_000
    ours.offset_ms = -50
    assert clock.now_ms() == 1_004_000
    real.advance(4_049)
    assert clock.now_ms() == 1_004_000
    real.advance(2)
    assert clock.now_ms() == 1_004_001
