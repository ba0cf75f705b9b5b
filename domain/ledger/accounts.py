"""The accounts of the books, by name. Source: DESIGN "Projections", `ledger`.

An account is a name and a currency. Its balance is what was credited to it less what was debited: what a player,
a purse, a bank or the house has; `cash`, the outside world, owes what came in, so it is below zero.
"""

from __future__ import annotations

from typing import Final

CASH: Final = "cash"
"""The outside world: deposits come from it, withdrawals go to it."""
COMMISSION: Final = "house:commission"
"""T10: what the house took."""
COMPENSATION: Final = "house:compensation"
"""Where adjustments come from and go to; below zero once the house has paid more than it took back."""

KINDS: Final = ("player", "purse", "bank", "transit", COMMISSION, COMPENSATION, CASH)
"""What a trial balance is summed by."""


def player(player_id: str) -> str:
    """T2: a player's money off the tables."""
    return f"player:{player_id}"


def purse(table: str, player_id: str) -> str:
    """T2: a player's money at a table."""
    return f"purse:{table}:{player_id}"


def bank(table: str) -> str:
    """T6: the bank of a table."""
    return f"bank:{table}"


def transit(command_id: bytes) -> str:
    """Money between the stream of an account and that of a table, moved by one command of 16 bytes.

    The two streams lie in parts that have no order between them; once both are passed this account is at zero.
    """
    return f"transit:{command_id.hex()}"


def kind(account: str) -> str:
    """Which of `KINDS` an account is."""
    head = account.partition(":")[0]
    return account if head in ("house", CASH) else head
