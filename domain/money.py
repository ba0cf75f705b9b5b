"""Money: whole minor units, never past 64 bits. Source: rulebook T9, T10 and N."""

from __future__ import annotations

from typing import Literal

from domain.options import AntePolicy

MAX_AMOUNT = 2**63 - 1
"""The largest amount that is valid anywhere, in minor units (N)."""

TABLE_LIMIT = 2**50
"""T1: purses and bank of one table together, in minor units."""

ACCOUNT_LIMIT = 2**53
"""T2: what an account may come to by a deposit, in minor units: what comes back from tables always has room then."""

BPS = 10_000

Spared = Literal["no_share", "fined", "not_above_stake"]
"""T10: why a share is spared the commission."""


class AmountOverflow(ValueError):
    """An amount past 2^63 - 1: an error, never wrapped (N)."""


def amount(value: int) -> int:
    """N: `value` where it is a valid amount. Raises AmountOverflow above 2^63 - 1."""
    if value > MAX_AMOUNT:
        raise AmountOverflow(f"the amount {value} is past {MAX_AMOUNT} (2^63 - 1)")
    assert value >= 0, value
    return value


def ante(policy: AntePolicy, stake: int, carried_bank: int) -> int:
    """T5: what each dealt-in player puts into the bank when a hand starts."""
    return stake if policy == "every_hand" or carried_bank == 0 else 0


def per_trick(bank: int, tricks: int) -> int:
    """T9: the share of one trick where a hand has `tricks` of them; the remainder stays in the bank."""
    return bank // tricks


def commission(share: int, stake: int, bps: int, fine_due: int) -> int:
    """T10: what the house takes of a gross `share`: nothing from a fined player or a share up to the stake."""
    return 0 if spared(share, stake, fine_due) else share * bps // BPS


def spared(share: int, stake: int, fine_due: int) -> Spared | None:
    """T10: why nothing is taken of a gross `share`, whatever the rate; None where the rate alone decides."""
    if not share:
        return "no_share"
    if fine_due:
        return "fined"
    return "not_above_stake" if share <= stake else None


def split_evenly(total: int, ways: int) -> tuple[int, ...]:
    """T13: `total` in `ways` parts, the remainder unit by unit from the first."""
    each, rest = divmod(total, ways)
    return tuple(each + (1 if i < rest else 0) for i in range(ways))
