"""The tail of the log → public messages over Redis. Source: DESIGN "Projections", live.

A table's message, on the table's channel: `{"table", "seq", "events": [{"seq", "at_ms", "type", …}, …]}`; `seq` is the
last event's number, and a hole in the numbers means that something was lost and stands in Postgres; `events` is empty
where who appended says it, before the tail has come there. A lobby message, on the lobby's channel: a `LobbyTable`.
Only public halves are in them, built field by field. Live has no past: it begins at the end of the log, so no rebuild
repeats a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from domain.halves import public_event
from infra.metrics import LIVE_MESSAGES
from infra.projection_store import RowWrite
from infra.redis import LOBBY as LOBBY_CHANNEL
from infra.redis import Publisher, table_channel
from projections.engine.log import Batch, Entry
from projections.engine.types import CannotApply, Projection
from projections.lobby import LOBBY, LobbyTable

NAME = "live"
"""The lease of who publishes. A second publisher would do no harm but double the messages."""
TABLE = "table-"
LOBBY_FIELDS = tuple(field.name for field in msgspec.structs.fields(LobbyTable))

_TABLE_MESSAGES, _LOBBY_MESSAGES = LIVE_MESSAGES.labels("table"), LIVE_MESSAGES.labels("lobby")
_encode = msgspec.json.Encoder().encode


def stands_at(table_id: str, seq: int) -> bytes:
    """The message that a table has grown to number `seq`, without what happened there."""
    return _encode({"table": table_id, "seq": seq, "events": ()})


class Live:
    """Hands on what the tail reads, while `active`, and what the lobby's rows become; never waits, never raises."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.active = False

    def batch(self, batch: Batch) -> None:
        """A batch of the tail."""
        if not self.active:
            return
        # One message a command and table, so that what is said does not hang on how the tail came to read it.
        for (stream, _), command in groupby(batch.entries, key=lambda e: (e.stream, e.stored.command_id)):
            if stream.startswith(TABLE):
                self._say(stream[len(TABLE) :], list(command))

    def _say(self, table_id: str, command: list[Entry]) -> None:
        events: list[dict[str, Any]] = []
        for entry in command:
            try:
                recorded = entry.recorded()
                events.append({"seq": recorded.seq, "at_ms": recorded.at_ms, **public_event(recorded.event)})
            except CannotApply:
                continue  # this code does not know it: whoever does reads it from Postgres
        message = _encode({"table": table_id, "seq": command[-1].stored.seq, "events": events})
        self._publisher.publish(table_channel(table_id), message)
        _TABLE_MESSAGES.inc()

    def committed(self, projection: Projection[Any], writes: Sequence[RowWrite]) -> None:
        """What a projection at the tail has written: the lobby's changed tables."""
        if projection.name != LOBBY.name:
            return  # who keeps the lobby says what became of it, whoever publishes the tables
        for write in writes:
            if write.table == "lobby_table":
                _LOBBY_MESSAGES.inc(len(write.rows))
                for row in write.rows:
                    self._publisher.publish(LOBBY_CHANNEL, _encode({name: row[name] for name in LOBBY_FIELDS}))
