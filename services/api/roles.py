"""Who may do what: DESIGN "The API", its table of roles. Each route names its rule."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["player", "cashier", "operator", "compliance", "ops"]
Rule = frozenset[str]

ROLES: tuple[str, ...] = get_args(Role)

ANYONE: Rule = frozenset({"anyone", *ROLES})
"""With or without a token."""
PLAYER: Rule = frozenset({"player"})
CASHIER: Rule = frozenset({"cashier"})
OPERATOR: Rule = frozenset({"operator"})
OPS: Rule = frozenset({"ops"})
ACCOUNT_READERS: Rule = PLAYER | CASHIER
"""A player reads his own account alone."""
HAND_READERS: Rule = frozenset({"player", "compliance"})
"""A player reads his own hands alone; compliance all that are over, each look an event."""
COMPLIANCE: Rule = frozenset({"compliance"})
DISPUTERS: Rule = PLAYER | COMPLIANCE
"""A player disputes his own hands, and sees his own disputes alone."""
REPORT_READERS: Rule = OPERATOR | COMPLIANCE
