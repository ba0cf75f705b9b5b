"""Recorded events as the caller may see them: public halves, and his own cards beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domain.halves import private_half, public_event
from infra.clock import rfc3339
from services.play.types import Answer, Step


def step_view(step: Step, player: str | None) -> dict[str, Any]:
    """One event for `player`, or for a spectator where it is None: `seq`, `at`, its public half, own `cards`."""
    shown = {"seq": step.seq, "at": rfc3339(step.at_ms), **public_event(step.event)}
    private = None if player is None else private_half(step.after, step.event, player)
    return shown if private is None else {**shown, **private}


def answer(steps: Sequence[Step], player: str) -> Answer:
    """The answer to the command that made `steps`, from what is stored alone, so that a repeat gets the same."""
    last = steps[-1]
    return Answer(version=last.seq, turn=last.after.turn, events=tuple(step_view(s, player) for s in steps))
