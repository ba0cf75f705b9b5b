"""The players' step. Each row is one table's, so no two streams write the same. Source: rulebook T2, T3, T13, H."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from domain.events import (
    BankReturned,
    HandCorrected,
    HandSettled,
    HandStarted,
    PlayerLeft,
    PlayerSat,
    TableClosed,
    TableOpened,
)
from projections.engine.types import Add, Change, Delete, Projection, Put, Recorded


class Dealt(Struct, frozen=True):
    """A dealt-in player and his purse before the ante."""

    seat: int
    player: str
    purse: int


class PlayersTable(Struct, frozen=True, kw_only=True):
    """What must be remembered of a table: what is played there, and who was dealt into its last hand."""

    game: str
    currency: str
    stake: int
    dealt: tuple[Dealt, ...] = ()


State = PlayersTable | None


def step(state: State, recorded: Recorded) -> tuple[State, list[Change]]:
    """Seats taken and left, hands counted, nets summed. A correction after the table closed (R5) is not in the nets."""
    table_id = recorded.stream.removeprefix("table-")
    event = recorded.event
    if isinstance(event, TableOpened):
        settings = event.settings
        return PlayersTable(game=settings.game, currency=settings.currency, stake=settings.stake), []
    if state is None and isinstance(event, HandCorrected):
        return None, []
    assert state is not None, f"{recorded.stream} was not opened"
    match event:
        case PlayerSat(player=player, seat=seat):
            row = {
                "player": player,
                "table_id": table_id,
                "seat": seat,
                "since_ms": recorded.at_ms,
                "game": state.game,
                "currency": state.currency,
                "stake": state.stake,
            }
            return state, [Put("seated", row)]
        case PlayerLeft(player=player):
            return state, [Delete("seated", {"player": player, "table_id": table_id})]
        case HandStarted(dealt_in=dealt_in, table=table):
            dealt = tuple(Dealt(s.seat, s.player, s.purse) for s in table.seats if s.seat in dealt_in)
            return replace(state, dealt=dealt), []
        case HandSettled(result=result):
            after = {p.seat: p.purse for p in result.players}
            return state, [_result(state, table_id, d.player, 1, after[d.seat] - d.purse) for d in state.dealt]
        case BankReturned(player=player, amount=amount):
            return state, [_result(state, table_id, player, 0, amount)]
        case HandCorrected(players=players):
            return state, [_result(state, table_id, p.player, 0, p.moved) for p in players if p.moved]
        case TableClosed():
            return None, []
        case _:
            raise AssertionError(f"the players do not handle {event}")


def _result(state: PlayersTable, table_id: str, player: str, hands: int, net: int) -> Add:
    key = {"player": player, "table_id": table_id, "currency": state.currency}
    return Add("result", key, {"hands": hands, "net": net})


PLAYERS: Projection[State] = Projection(
    name="players",
    version=1,
    ddl=(Path(__file__).parent / "schema.sql").read_text(),
    streams=("table-",),
    handles=(TableOpened, PlayerSat, PlayerLeft, HandStarted, HandSettled, HandCorrected, BankReturned, TableClosed),
    state=PlayersTable,
    initial=None,
    step=step,
)
