"""A record that was altered by one unit, or names another player, is found by the ledger wherever money hangs on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain.ledger import POSTED
from domain.ledger.laws import UnknownRules
from domain.options import GameName
from tests.domain.hands import GAMES
from tests.domain.ledger.evenings import evening
from tests.domain.ledger.folding import first_mismatch

Path = tuple[str | int, ...]
EACH = 3
"""So many times each field is altered."""
NO_MONEY = frozenset(
    {
        "cards_discarded.count",
        "cards_drawn.count",
        "hand_started.table.bank_no",
        "hand_started.table.dealer",
        "hand_started.table.departures.*.at_ms",
        "hand_started.table.departures.*.bank_no",
        "hand_started.table.departures.*.player",
        "hand_started.table.departures.*.purse",
        "hand_started.table.hand_no",
        "hand_started.table.last_dealt_in.*.player",
        "hand_started.table.last_dealt_in.*.seat",
        "hand_started.table.ready_at_ms",
        "hand_started.table.seats.*.buy_in",
        "hand_started.table.seats.*.expiries",
        "hand_started.table.seats.*.idle_hands",
        "hand_started.table.seats.*.idle_since_ms",
        "hand_started.table.settings.entry_limit",
        "hand_started.table.settings.max_seats",
        "hand_started.table.settings.pause_ms",
        "hand_started.table.settings.spectator_delay_ms",
        "hand_started.table.settings.time_bank_ms",
        "hand_started.table.settings.turn_ms",
        "hand_started.table.turn",
        "table_opened.settings.entry_limit",
        "table_opened.settings.max_seats",
        "table_opened.settings.pause_ms",
        "table_opened.settings.rules",
        "table_opened.settings.spectator_delay_ms",
        "table_opened.settings.time_bank_ms",
        "table_opened.settings.turn_ms",
    }
)
"""Nothing is paid by these; who may sit, when, and how long, the rules alone say."""
SOMETIMES = frozenset({"declared.seat", "cards_discarded.seat", "cards_drawn.seat", "hand_started.dealer"})
"""Whose word or cards these were changes what is paid in some hands only."""


def altered(value: Any, path: Path = ()) -> Iterator[tuple[str, Any]]:
    """Every number in an event one higher, and every player another, each by itself with the name of its field."""
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            for field, inner in altered(getattr(value, name), (*path, name)):
                yield field, replace(value, **{name: inner})
    elif isinstance(value, tuple):
        for i, each in enumerate(value):
            for field, inner in altered(each, (*path, "*")):
                yield field, (*value[:i], inner, *value[i + 1 :])
    elif isinstance(value, int) and not isinstance(value, bool):
        yield ".".join(map(str, path)), value + 1
    elif isinstance(value, str) and path[-1] in ("player", "currency"):
        yield ".".join(map(str, path)), "somebody"


@pytest.mark.parametrize("game", GAMES)
def test_what_was_altered_is_found(game: GameName) -> None:
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for seed in range(2):
        log = evening(seed, game, hands=4)
        for n, entry in enumerate(log):
            if type(entry.event) not in POSTED:
                continue
            for field, event in altered(entry.event):
                name = f"{entry.event.__struct_config__.tag}.{field}"
                if tried[name] == EACH or name in NO_MONEY:
                    continue
                tried[name] += 1
                try:
                    _, mismatch = first_mismatch([*log[:n], replace(entry, event=event), *log[n + 1 :]])
                except UnknownRules:
                    assert name == "hand_started.table.settings.rules"
                    continue
                missed[name] += mismatch is None
    assert tried["hand_settled.result.players.*.purse"] == EACH
    assert {name for name, count in missed.items() if count} <= SOMETIMES


LEFT_OUT = frozenset({"cards_discarded", "cards_drawn", "table_closed"})
"""Which cards went where is not the ledger's business, nor that a table of which nothing is left is closed."""
PASSES = frozenset({"declared"})
"""How often one passed before another declared changes nothing that is paid."""


@pytest.mark.parametrize("game", GAMES)
def test_what_was_left_out_or_is_there_twice_is_found(game: GameName) -> None:
    """Left out at the end of an account's stream it shows in what stays under way, or in what is outside."""
    tried: Counter[str] = Counter()
    for seed in range(2):
        log = evening(seed, game, hands=4)
        right, _ = first_mismatch(log)
        for n, entry in enumerate(log):
            kind = str(entry.event.__struct_config__.tag)
            if type(entry.event) not in POSTED or kind in LEFT_OUT or tried[kind] == EACH:
                continue
            tried[kind] += 1
            without, mismatch = first_mismatch([*log[:n], *log[n + 1 :]])
            assert mismatch is not None or without.balances != right.balances or kind in PASSES, (kind, n)
            _, mismatch = first_mismatch([*log[: n + 1], *log[n:]])
            assert mismatch is not None or kind in PASSES, (kind, n)
    assert tried["hand_settled"] == tried["player_left"] == EACH
