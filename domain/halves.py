"""An event in halves: what all may see of it, and what it shows to one player. Source: rulebook K2, F2, S6.

As in `views`, nothing is removed from a whole: what is not written here is not shown.
"""

from __future__ import annotations

from typing import Any

from domain.events import CardsDealt, CardsDiscarded, CardsDrawn, CardsLooked, Declared, Event
from domain.table import Table
from domain.views import dealt_in, own_cards

PUBLIC: dict[str, tuple[str, ...]] = {
    "table_opened": ("settings",),
    "hand_committed": ("hand_id", "commitment", "key_commitment"),
    "client_seed_set": ("hand_id", "player"),
    "player_sat": ("seat", "player", "buy_in"),
    "purse_topped_up": ("seat", "player", "amount"),
    "player_sat_out": ("seat", "player", "by"),
    "player_returned": ("seat", "player"),
    "leave_requested": ("seat", "player"),
    "player_left": ("seat", "player", "purse", "reason"),
    "deadlines_renewed": (),
    "table_state_written": (),
    "table_halted": ("reason", "fault"),
    "table_resumed": ("reason",),
    "hand_corrected": ("hand_id", "basis", "result", "players", "bank_due", "bank_moved", "commission_due", "resumes"),
    "table_closing": ("reason",),
    "bank_returned": ("seat", "player", "amount"),
    "table_closed": (),
    "hand_started": ("hand_id", "commitment", "dealer", "dealt_in", "ante", "client_seeds"),
    "cards_dealt": ("hand_id", "deal_no"),
    "trump_turned": ("card", "circle"),
    "cards_looked": ("seat",),
    "declared": ("seat", "do", "by"),
    "cards_discarded": ("hand_id", "seat", "count", "by"),
    "cards_drawn": ("hand_id", "seat", "count", "trump_card", "by"),
    "bank_topped_up": ("seat", "amount"),
    "time_bank_used": ("seat", "ms"),
    "four_aces_shown": ("seat", "cards"),
    "card_played": ("seat", "card", "by"),
    "trick_taken": ("seat", "trick"),
    "share_paid": ("seat", "tricks", "amount"),
    "commission_taken": ("seat", "share", "amount"),
    "fine_paid": ("seat", "due", "paid"),
    "hand_settled": ("hand_id", "result"),
    "void_proposed": ("hand_id", "reason"),
    "hand_voided": ("hand_id", "cause", "reason", "returned", "result"),
    "seed_disclosed": ("hand_id", "to", "used"),
}
"""The fields of each table event that everybody at the table, and a spectator, may see. Complete; a test checks it."""


def public_event(event: Event) -> dict[str, Any]:
    """The public half of a table's event: its type and the fields named in `PUBLIC`."""
    kind = str(type(event).__struct_config__.tag)
    return {"type": kind, **{name: getattr(event, name) for name in PUBLIC[kind]}}


_SHOWS = (CardsDealt, CardsLooked, Declared, CardsDrawn, CardsDiscarded)


def private_half(after: Table, event: Event, player: str) -> dict[str, Any] | None:
    """What `event` shows to `player` alone: his own cards after it, where it changed them or opened them to him."""
    if not isinstance(event, _SHOWS):
        return None
    mine = dealt_in(after, player)
    if mine is None or not (isinstance(event, CardsDealt) or event.seat == mine.seat):
        return None
    cards = own_cards(after, player)
    return None if cards is None else {"cards": cards}
