"""As whom a look at hidden cards from the command line is recorded."""

from __future__ import annotations

import getpass
import re

CONSOLE = "console"
"""The role: whoever may run a command has the keys at hand."""


def person() -> str:
    """The user of this machine, in the form of a subject."""
    return re.sub(r"[^a-z0-9_-]", "-", getpass.getuser().lower())[:64] or "unknown"
