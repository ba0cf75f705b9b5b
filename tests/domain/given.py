"""Given a hand, when something is done, then these events: the hand is put in words of the golden texts."""

from __future__ import annotations

from domain.act import act, unfold
from domain.consequences import consequences
from domain.events import Event, HandStarted
from domain.handfile.file import action_of
from domain.handfile.replaying import FileDecks, opening
from tests.domain.goldens import read, read_action
from tests.domain.hands import folded


class Given:
    """A hand that has begun. `started` and `opened` are its first events, `hand` is the hand now."""

    def __init__(self, text: str) -> None:
        file = read(text).file
        self.places = {s.player: s.seat for s in file.seats}
        self.decks = FileDecks(tuple(tuple(c for c in cards if c is not None) for cards in file.deals))
        self.started: HandStarted
        self.started, self.hand = opening(file)
        self.opened, self.hand = unfold(self.hand, consequences(self.hand, self.decks), self.decks)

    def when(self, *lines: str) -> tuple[Event, ...]:
        """Do what the lines say (`anna play Ks`); the events of the last one."""
        events: tuple[Event, ...] = ()
        for line in lines:
            entry = read_action(f"> {line}", self.places)
            done = act(self.hand, entry.seat, action_of(entry), entry.by, self.decks)
            assert isinstance(done, tuple), (line, done)
            self.hand, events = folded(self.hand, done), done
        return events


def given(head: str = "", second_deal: str = "", **cards: str) -> Given:
    """A hand of khrap, or of the game that the head names, with a stake of 2000 and the first player as dealer.

    `head` holds further lines of a golden text, and what they say counts. `cards`: each player's, with his purse before
    a colon where it is not 100000; `trump` and `stock`. `second_deal` is the block of a second deal without its head.
    """
    seats = [name for name in cards if name not in ("trump", "stock")]
    lines = ["clauses: T5", *head.splitlines()]
    for name, default in (("game", "khrap"), ("stake", "2000"), ("dealer", seats[0])):
        if not any(line.startswith(f"{name}: ") for line in lines):
            lines.append(f"{name}: {default}")
    for seat, name in enumerate(seats):
        purse, held = cards[name].split(": ") if ":" in cards[name] else ("100000", cards[name])
        lines.append(f"seat {seat} {name} {purse}: {held}")
    lines += [f"{name}: {cards[name]}" for name in ("trump", "stock") if name in cards]
    return Given("\n".join((*lines, "deal 2", second_deal) if second_deal else lines))
