"""What the rules and the table say no with. Source: rulebook H3, DESIGN "The API"."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Code = Literal[
    "hand_over",
    "not_in_hand",
    "not_your_turn",
    "not_offered",
    "card_not_held",
    "wrong_discard_count",
    "must_follow_suit",
    "must_trump",
    "stale_turn",
    "insufficient_funds",
    "below_entry_limit",
    "seat_taken",
    "table_full",
    "already_seated",
    "in_hand",
    "table_halted",
    "table_closing",
    "table_limit",
    "not_seated",
    "too_many_requests",
    "account_limit",
    "account_exists",
    "no_account",
    "two_persons",
    "not_impartial",
    "holds_seat",
    "dispute_exists",
    "dispute_closed",
    "too_late",
    "texts_erased",
    "nothing_to_correct",
]
"""The stable codes; those of H3 come first, in the order in which they apply."""


class Refused(Struct, frozen=True):
    """A command that the rules refuse. `clause` points into the rulebook, `detail` says what would be right."""

    code: Code
    clause: str
    detail: str
