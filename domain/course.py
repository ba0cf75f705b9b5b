"""What a command comes to, event by event, each folded as it is decided: nobody need fold it a second time."""

from __future__ import annotations

from collections.abc import Sequence

from domain.consequences import Decks, consequences
from domain.events import Event
from domain.evolve import evolve
from domain.table import Table, running


class Course:
    """Events from `table` on, all of the moment `at_ms`: `tables` holds the table after each of `events`."""

    def __init__(self, table: Table | None, at_ms: int, events: Sequence[Event] = ()) -> None:
        self.events: list[Event] = []
        self.tables: list[Table] = []
        self._begun = table
        self._at_ms = at_ms
        self.add(*events)

    @property
    def table(self) -> Table:
        """The table after all of them."""
        after = self.tables[-1] if self.tables else self._begun
        assert after is not None
        return after

    def add(self, *events: Event) -> None:
        """These happen too."""
        table = self.tables[-1] if self.tables else self._begun
        for event in events:
            table = evolve(table, event, self._at_ms)
            self.events.append(event)
            self.tables.append(table)

    def follow(self, decks: Decks) -> None:
        """And what follows by the rules of the hand, until a player is asked or it is over."""
        while (hand := running(self.table)) is not None and (next_ := consequences(hand, decks)):
            self.add(*next_)
