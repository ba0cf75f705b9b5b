"""The step of the hands: a start, an end, a disclosure. It remembers nothing. Source: rulebook H, T12, S6."""

from __future__ import annotations

from pathlib import Path

from domain.events import HandSettled, HandStarted, HandVoided, PlayerResult, Result, SeedDisclosed
from projections.engine.types import Change, Insert, Projection, Recorded, Update


def step(state: None, recorded: Recorded) -> tuple[None, list[Change]]:
    """The rows that the event makes or completes."""
    match recorded.event:
        case HandStarted() as event:
            return None, _started(event, recorded)
        case HandSettled(hand_id=hand_id, result=result):
            return None, _ended(hand_id, result, recorded, {})
        case HandVoided(hand_id=hand_id, result=result, cause=cause, reason=reason):
            return None, _ended(hand_id, result, recorded, {"void_cause": cause, "void_reason": reason})
        case SeedDisclosed(hand_id=hand_id, to=to, used=used):
            return None, [Update("hand", {"hand_id": hand_id}, {"disclosed_to": to})] if used else []
        case event:
            raise AssertionError(f"the hands do not handle {event}")


def _started(event: HandStarted, recorded: Recorded) -> list[Change]:
    table = event.table
    settings = table.settings
    row = {
        "hand_id": event.hand_id,
        "table_id": recorded.stream.removeprefix("table-"),
        "hand_no": table.hand_no + 1,
        "game": settings.game,
        "rules": settings.rules,
        "currency": settings.currency,
        "stake": settings.stake,
        "dealer": event.dealer,
        "commitment": event.commitment,
        "started_ms": recorded.at_ms,
        "first_seq": recorded.seq,
        "ended_ms": None,
        "last_seq": None,
        "ending": None,
        "bank": None,
        "carried_bank": None,
        "void_cause": None,
        "void_reason": None,
        "disclosed_to": None,
    }
    players = [
        {
            "hand_id": event.hand_id,
            "seat": seat.seat,
            "player": seat.player,
            "started_ms": recorded.at_ms,
            "purse_before": seat.purse,
            **dict.fromkeys(RESULT_COLUMNS),
        }
        for seat in table.seats
        if seat.seat in event.dealt_in
    ]
    return [Insert("hand", row), *[Insert("hand_player", player) for player in players]]


RESULT_COLUMNS = ("status", "tricks", "share", "commission", "fine_due", "fine_paid", "purse_after")


def _ended(hand_id: str, result: Result, recorded: Recorded, void: dict[str, str]) -> list[Change]:
    values = {
        "ended_ms": recorded.at_ms,
        "last_seq": recorded.seq,
        "ending": result.ending,
        "bank": result.bank,
        "carried_bank": result.carried_bank,
        **void,
    }
    return [
        Update("hand", {"hand_id": hand_id}, values),
        *[Update("hand_player", {"hand_id": hand_id, "seat": p.seat}, _result(p)) for p in result.players],
    ]


def _result(player: PlayerResult) -> dict[str, str | int]:
    return {
        "status": player.status,
        "tricks": player.tricks,
        "share": player.share,
        "commission": player.commission,
        "fine_due": player.fine_due,
        "fine_paid": player.fine_paid,
        "purse_after": player.purse,
    }


HANDS: Projection[None] = Projection(
    name="hands",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("table-",),
    handles=(HandStarted, HandSettled, HandVoided, SeedDisclosed),
    state=None,
    initial=None,
    step=step,
)
