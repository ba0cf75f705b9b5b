"""As whom the command line acts, and a look at hidden cards from it: recorded, and by the rules of the API. R2, R7."""

from __future__ import annotations

import os
import pwd
import re

import msgspec

from infra.faults import Fault
from projections.hands import HandRow
from services.api.access import Access, What, barred
from services.api.forms import CONSOLE_PREFIX, Text
from services.books import Books
from services.play.types import Caller

CONSOLE = "console"
"""The role: whoever may run a command has the keys at hand."""


def login() -> str:
    """The name of the process's real user, whatever the environment says; his number where the name fits no subject."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = ""
    return name if re.fullmatch("[a-z0-9_-]{1,32}", name) else str(uid)


def person() -> str:
    """The user of this machine as a subject, which no token has. A token named as his login is taken for his own."""
    return CONSOLE_PREFIX + login()


def said(reason: str | None) -> str:
    """Why he looks. Raises Fault(`reason`) for one that says nothing."""
    try:
        return msgspec.convert(reason, Text)
    except msgspec.ValidationError:
        detail = "--reason: say why you look, in one line of 3 to 200 characters; it is recorded"
        raise Fault("reason", detail) from None


async def record_look(books: Books, row: HandRow, what: What, reason: str) -> None:
    """Record a look before it is granted. Raises Fault: then there is none, as for who sits at a table or played it."""
    refused = await barred(books.reader, row, login())
    if refused is not None:
        raise Fault(refused.code, f"{refused.detail} ({refused.clause})")
    core = books.core
    access = Access(core.store, core.codec, core.clock, core.entropy)
    await access.looked(Caller(person(), CONSOLE), row.hand_id, row.table_id, what, reason)
